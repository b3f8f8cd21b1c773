package command

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/shared/api/v1beta2"
)

// target is an object that may be deleted.
type target struct {
	object client.Object
	// effect is all that a person agrees to.
	effect string
}

// is reports whether this is what was agreed to: the same object, with the same effect.
func (t target) is(agreed target) bool {
	return t.object != nil && t.object.GetUID() == agreed.object.GetUID() && t.effect == agreed.effect
}

// targets are objects that may be deleted, as of one read, by <resource>.<group>/<name>.
type targets map[string]target

// deletion deletes objects that a person agreed to.
type deletion struct {
	client *cluster.Client
	right  cluster.Right
	agreed targets
	// read reads the targets again.
	read func(context.Context) (targets, error)
	// instead is what is written in the place of a deletion; nil: the object is deleted.
	instead func(context.Context, client.Object) error
}

// deleteAsAgreed asks, and deletes what the plan names. Time passes until the answer: the targets are read again then, and where one is not
// as it was shown, nothing is deleted.
func (f *Frame) deleteAsAgreed(ctx context.Context, consent consent, plan Report, question string, d deletion) error {
	done := deleted{Deleted: []string{}, Failed: []failedDeletion{}}
	var err error
	if done.Deleted, done.Failed, err = f.writeAsAgreed(ctx, consent, plan, question, "deleted", d); done.Deleted == nil {
		return err
	}
	return errors.Join(err, f.print(done))
}

// writeAsAgreed asks the person, reads the targets again, and writes to each target that the plan names. If the person does not agree, or
// if a target changed since it was shown, nothing is written and done is nil. did is the participle of the action, for error messages.
func (f *Frame) writeAsAgreed(ctx context.Context, consent consent, plan Report, question, did string, d deletion) (done []string,
	failed []failedDeletion, err error) {
	if err := f.preview(ctx, consent, plan, question); err != nil {
		return nil, nil, err
	}
	now, err := d.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range plan.Names() {
		if !now[name].is(d.agreed[name]) {
			return nil, nil, fmt.Errorf("%s: %w; nothing was %s", name, errNotAsShown, did)
		}
	}
	done, failed = []string{}, []failedDeletion{}
	var problems []error
	for _, name := range plan.Names() {
		if err := d.delete(ctx, name, now[name]); err != nil {
			problems = append(problems, err)
			failed = append(failed, failedDeletion{name, err.Error()})
		} else {
			done = append(done, name)
		}
	}
	return done, failed, errors.Join(problems...)
}

var errNotAsShown = errors.New("it changed since it was shown, look again")

// delete deletes one object; where it changed meanwhile, only if it still is what was agreed to.
func (d deletion) delete(ctx context.Context, name string, now target) error {
	for try := 1; ; try++ {
		err := d.write(ctx, now.object)
		if !cluster.IsChanged(err) || try == writeTries {
			return err
		}
		all, err := d.read(ctx)
		if err != nil {
			return err
		}
		if now = all[name]; !now.is(d.agreed[name]) {
			return fmt.Errorf("%s: %w", name, errNotAsShown)
		}
	}
}

// write deletes an object, or does what is to be done instead. An Orphan that a policy deleted is released.
func (d deletion) write(ctx context.Context, object client.Object) error {
	if d.instead != nil {
		return d.instead(ctx, object)
	}
	if o, is := object.(*v1beta2.Orphan); is && o.DeletionTimestamp != nil {
		return d.client.ReleaseOrphan(ctx, o)
	}
	return d.client.Delete(ctx, object, d.right)
}

// deleted is what was deleted, and what was not. Names are <resource>.<group>/<name>.
type deleted struct {
	Deleted []string         `json:"deleted"`
	Failed  []failedDeletion `json:"failed"`
}

// failedDeletion is one object that was not deleted, and why.
type failedDeletion struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// Names returns what was deleted.
func (d deleted) Names() []string { return d.Deleted }

// Text writes one line for each, as kubectl does.
func (d deleted) Text(p *terminal.Printer) {
	for _, name := range d.Deleted {
		p.Line("%s deleted", name)
	}
}
