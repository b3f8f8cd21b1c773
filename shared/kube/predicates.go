package kube

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// OnChange passes an update of an object if Changed reports one. Creations and deletions pass.
func OnChange[T client.Object, F comparable](facts func(T) F) predicate.Predicate {
	return onUpdate(func(before, after T) bool { return Changed(facts, before, after) })
}

// Changed reports whether the facts of an object differ, its deletion has begun, or it is another object of the same name.
func Changed[T client.Object, F comparable](facts func(T) F, before, after T) bool {
	return lifeChanged(before, after) || facts(before) != facts(after)
}

// OnDeepChange is OnChange for facts that cannot be compared by ==, as maps and slices: they differ where they do in meaning, so that an
// absent list equals an empty one. The facts have no unexported fields.
func OnDeepChange[T client.Object, F any](facts func(T) F) predicate.Predicate {
	return onUpdate(func(before, after T) bool { return DeepChanged(facts, before, after) })
}

// DeepChanged is Changed for facts that cannot be compared by ==.
func DeepChanged[T client.Object, F any](facts func(T) F, before, after T) bool {
	return lifeChanged(before, after) || !equality.Semantic.DeepEqual(facts(before), facts(after))
}

// OnDifference passes an update in which the objects differ as the function finds, for facts that would be costly to collect of each: maps
// with hundreds of keys. Of deletion and identity it is as OnChange.
func OnDifference[T client.Object](differ func(before, after T) bool) predicate.Predicate {
	return onUpdate(func(before, after T) bool { return lifeChanged(before, after) || differ(before, after) })
}

// OnAnyChange passes an update that changes anything that the cache keeps of an object, the version apart. T is a struct that carries its
// metadata as a field.
func OnAnyChange[T any, P interface {
	*T
	client.Object
}]() predicate.Predicate {
	return onUpdate(func(before, after P) bool {
		was, is := *before, *after
		P(&was).SetResourceVersion("")
		P(&is).SetResourceVersion("")
		return !equality.Semantic.DeepEqual(was, is)
	})
}

// OnLife passes only that an object comes, that its deletion begins, and that it goes.
func OnLife() predicate.Predicate { return onUpdate(lifeChanged[client.Object]) }

// OnEnd passes only that an object is gone.
func OnEnd() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// OnceRunning does not pass what exists when the process begins to watch a kind; use it with predicate.And.
func OnceRunning() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList }}
}

// CreatedIf passes only those created objects of which is reports true; updates and deletions pass. Use it with predicate.And.
func CreatedIf[T client.Object](is func(T) bool) predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(e event.CreateEvent) bool { return is(e.Object.(T)) }}
}

// NotCreated passes updates and deletions, and no creation. Use it with predicate.And.
func NotCreated() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
}

// OnRequest passes a created object that requests something, and an update by which an object requests something else than before. Nothing
// is the zero value of what request returns. Deletions do not pass.
func OnRequest[T client.Object, F comparable](request func(T) F) predicate.Predicate {
	var nothing F
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return request(e.Object.(T)) != nothing },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			now := request(e.ObjectNew.(T))
			return now != nothing && now != request(e.ObjectOld.(T))
		},
	}
}

// If passes the events of the objects of which is reports true; of an update the new one counts.
func If[T client.Object](is func(T) bool) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool { return is(obj.(T)) })
}

func onUpdate[T client.Object](changed func(before, after T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return changed(e.ObjectOld.(T), e.ObjectNew.(T)) }}
}

func lifeChanged[T client.Object](before, after T) bool {
	return before.GetUID() != after.GetUID() || (before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil)
}
