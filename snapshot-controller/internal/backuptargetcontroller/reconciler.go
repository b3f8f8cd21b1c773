package backuptargetcontroller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
	"drover.dev/drover/snapshot-controller/internal/filledfrom"
)

// reconciler reads targets.
type reconciler struct {
	rt       *runkit.Runtime
	stores   *backupstores.Stores
	absences backuplist.Absences
	filled   filledfrom.Reader

	mutex sync.Mutex
	tried map[string]backuplist.Tried
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	t, err := lookup.Get(ctx, r.rt.Client, r.rt.Namespace, request.Name, &v1beta2.BackupTarget{})
	if t == nil || err != nil || r.rt.Observe {
		return ctrl.Result{}, err
	}
	if t.Spec.BackupTargetURL == "" && t.DeletionTimestamp == nil {
		return ctrl.Result{}, r.clear(ctx, t)
	}
	// The cache may be behind the write of the last reading, and would have it repeated.
	live := &v1beta2.BackupTarget{}
	if err := r.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(t), live); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	turn := backuplist.NextTurn(live, r.triedOf(live.Name), r.rt.Clock.Now())
	if turn.Now {
		if err := r.read(ctx, live, turn.All); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(t), live); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		turn = backuplist.NextTurn(live, r.triedOf(live.Name), r.rt.Clock.Now())
	}
	switch {
	case turn.Now:
		return ctrl.Result{RequeueAfter: time.Second}, nil // its spec changed while it was read
	case turn.At.IsZero():
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: kube.Until(turn.At, r.rt.Clock.Now())}, nil
}

// read reads a target and reports what became of that.
func (r *reconciler) read(ctx context.Context, t *v1beta2.BackupTarget, all bool) error {
	began, commands := r.rt.Clock.Now(), enginecommand.Commands()
	p, err := r.newPass(ctx, t, all, began)
	if err == nil {
		err = p.run(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errMoved) {
		return nil // the event of the change brings the next reading
	}
	reason, message, known := explain(t, p, err)
	if !known {
		return err // the API server did not answer, or refused a write
	}
	r.note(t, reason, began)
	readings.WithLabelValues(reason).Inc()
	log.FromContext(ctx).Info("backup target read", "target", t.Name, "reason", reason, "message", message,
		"commands", enginecommand.Commands()-commands, "seconds", r.rt.Clock.Since(began).Seconds())
	return r.report(ctx, t, reason, message, began)
}

// note remembers a reading that failed: it is repeated after a pause.
func (r *reconciler) note(t *v1beta2.BackupTarget, reason string, began time.Time) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if isRead(reason) {
		delete(r.tried, t.Name)
		return
	}
	r.tried[t.Name] = backuplist.Tried{Generation: t.Generation, At: began}
}

func (r *reconciler) triedOf(name string) backuplist.Tried {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.tried[name]
}

// isRead reports whether a reading with this result counts as one: it is repeated when the next is due.
func isRead(reason string) bool {
	return reason == v1beta2.ReasonListed || reason == v1beta2.ReasonListedInPart
}

// explain returns reason and message of the condition Listed; not known: the error is none of the target.
func explain(t *v1beta2.BackupTarget, p *pass, err error) (reason, message string, known bool) {
	missing, failure := new(backupstores.MissingError), new(enginecommand.Failure)
	switch {
	case err == nil:
		reason, message = p.summary()
		return reason, message, true
	case errors.As(err, &missing):
		return missing.Reason, missing.Sentence, true
	case !errors.As(err, &failure):
		return "", "", false
	}
	const stays = " What was listed before stays as it was. It is tried again within a minute."
	url := t.Spec.BackupTargetURL
	switch {
	case errors.Is(failure, enginecommand.ErrNoBinary):
		return v1beta2.ReasonNoEngineBinary, fmt.Sprintf("The engine could not be run: %s. See that the default engine image is deployed on "+
			"the node of snapshot-controller.", failure.Text) + stays, true
	case errors.Is(failure, enginecommand.ErrTimeout):
		return v1beta2.ReasonTimedOut, fmt.Sprintf("%s did not answer: %s. See that it can be reached from the pod of snapshot-controller, or "+
			"raise the Setting backup-execution-timeout.", url, failure.Text) + stays, true
	case errors.Is(failure, errEmpty):
		return v1beta2.ReasonEmptyAnswer, failure.Text, true
	}
	return v1beta2.ReasonRefused, fmt.Sprintf("%s cannot be read: %s. See that the URL and the credentials of the BackupTarget are right, "+
		"and that it can be reached from the pod of snapshot-controller.", url, failure.Text) + stays, true
}
