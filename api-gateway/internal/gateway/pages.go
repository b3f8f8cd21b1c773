package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/change"
	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/settings"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// pageRoutes returns the handlers for the pages of the web interface beside the lists, by pattern.
func (s *server) pageRoutes() map[string]handler {
	routes := map[string]handler{
		"PUT /v1/settings/{name}":          s.changing("setSetting", s.putSetting),
		"PUT /v1/nodes/{name}":             s.changing("updateNode", s.putNode),
		"POST /v1/nodes/{name}":            acting("a node", map[string]handler{"diskUpdate": s.changing("diskUpdate", s.updateDisks)}),
		"DELETE /v1/nodes/{name}":          s.changing("deleteNode", deleting[v1beta2.Node](s)),
		"GET /v1/orphans/{name}":           s.getOrphan,
		"DELETE /v1/orphans/{name}":        s.changing("deleteOrphan", deleting[v1beta2.Orphan](s)),
		"GET /v1/volumeattachments/{name}": s.getVolumeAttachment,
		"GET /v1/instancemanagers/{name}":  s.getInstanceManager,
		"GET /v1/engineimages/{name}":      s.getEngineImage,
		"POST /v1/engineimages":            absent(wire.TypeEngineImage),
		"DELETE /v1/engineimages/{name}":   absent(wire.TypeEngineImage),
		"GET /v1/recurringjobs/{name}":     s.getRecurringJob,
		"POST /v1/recurringjobs":           s.changing("createRecurringJob", s.createRecurringJob),
		"PUT /v1/recurringjobs/{name}":     s.changing("updateRecurringJob", s.putRecurringJob),
		"DELETE /v1/recurringjobs/{name}":  s.changing("deleteRecurringJob", deleting[v1beta2.RecurringJob](s)),
		"POST /v1/backuptargets":           s.changing("createBackupTarget", s.createBackupTarget),
		"PUT /v1/backuptargets":            absentSync,
		"POST /v1/backuptargets/{name}":    s.actOnBackupTarget,
		"DELETE /v1/backuptargets/{name}":  s.changing("deleteBackupTarget", deleting[v1beta2.BackupTarget](s)),
		"PUT /v1/backupvolumes":            absentSync,
		"PUT /v1/backupvolumes/{name}":     absentSync,
		"DELETE /v1/backupvolumes/{name}":  absent(wire.TypeBackupVolume),
	}
	for _, name := range absentTypes {
		path := pathOf(name)
		routes["GET /v1/"+path+"/{name}"], routes["POST /v1/"+path] = absent(name), absent(name)
		routes["POST /v1/"+path+"/{name}"], routes["DELETE /v1/"+path+"/{name}"] = absent(name), absent(name)
	}
	return routes
}

// absentSync answers requests to read a backup target again.
func absentSync(request) (any, error) {
	return nil, errNotDone("reading a backup target", "no controller of Drover lists what is in it; what the cluster knows is listed")
}

// deleting returns a handler that deletes exactly the object that was read.
func deleting[T any, P object[T]](s *server) handler {
	return func(r request) (any, error) {
		found, err := find(r.ctx, s.reader, r.name, P(new(T)))
		if err != nil {
			return nil, err
		}
		err = s.remove(r.ctx, found)
		if apierrors.IsNotFound(err) {
			return nil, notFound(kindOf(found), r.name)
		}
		if err != nil {
			return nil, fmt.Errorf("deleting %s %s: %w", kindOf(found), r.name, plainly(err))
		}
		return nil, nil
	}
}

// putSetting stores the value of a setting in its normal form.
func (s *server) putSetting(r request) (any, error) {
	var in struct {
		Value string `json:"value"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	d, known := settings.Find(r.name)
	if !known {
		return nil, notFound("setting", r.name)
	}
	value, err := d.Normalize(in.Value)
	if err != nil {
		return nil, fmt.Errorf("failed to validate setting %s with invalid value %s: %w", r.name, in.Value, err)
	}
	var written client.Object
	err = retried(r.ctx, func() (err error) {
		written, err = s.writeSetting(r.ctx, r.name, value)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("failed to validate setting %s with invalid value %s: %w", r.name, in.Value, plainly(err))
	}
	s.shown(r.ctx, written)
	return s.getSetting(r)
}

// writeSetting writes the value of a setting, and creates the Setting if there is none. It is a conflict if another writer was faster.
func (s *server) writeSetting(ctx context.Context, name, value string) (client.Object, error) {
	stored, err := lookup.Get(ctx, s.reader.uncached, s.reader.namespace, name, &v1beta2.Setting{})
	if err != nil {
		return nil, err
	}
	written := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: s.reader.namespace, Name: name}, Value: value}
	if stored == nil {
		err = s.client.Create(ctx, written)
		if apierrors.IsAlreadyExists(err) {
			err = apierrors.NewConflict(v1beta2.GroupVersion.WithResource("settings").GroupResource(), name, err)
		}
		return written, err
	}
	body, err := json.Marshal(map[string]any{"value": value,
		"metadata": map[string]string{"resourceVersion": stored.ResourceVersion, "uid": string(stored.UID)}})
	if err != nil {
		return nil, err
	}
	written.Value = ""
	return written, s.client.Patch(ctx, written, client.RawPatch("application/merge-patch+json", body))
}

// putNode replaces the fields of a node that clients may change; a field that the client leaves out is false, null or 0.
func (s *server) putNode(r request) (any, error) {
	var in change.NodeInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	n, err := find(r.ctx, s.reader, r.name, &v1beta2.Node{})
	if err != nil {
		return nil, err
	}
	fields, err := change.NodeFields(in)
	if err != nil {
		return nil, fmt.Errorf("changing node %s: %w", n.Name, err)
	}
	return s.writeNode(r, n, fields)
}

// updateDisks replaces the disks of a node.
func (s *server) updateDisks(r request) (any, error) {
	var in struct {
		Disks map[string]change.DiskInput `json:"disks"`
	}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	var answer any
	err := retried(r.ctx, func() error {
		n, err := fresh(r.ctx, s.reader, r.name, &v1beta2.Node{})
		if err != nil {
			return err
		}
		fields, err := change.DiskFields(n, in.Disks)
		if err != nil {
			return fmt.Errorf("changing the disks of node %s: %w", n.Name, err)
		}
		answer, err = s.writeNode(r, n, map[string]any{"disks": fields}, status.AtVersion())
		return err
	})
	return answer, err
}

func (s *server) writeNode(r request, n *v1beta2.Node, fields map[string]any, options ...status.Option) (any, error) {
	var written client.Object
	if err := status.MergeSpec(r.ctx, s.client, n, fields, append(options, status.Written(&written))...); err != nil {
		return nil, fmt.Errorf("changing node %s: %w", n.Name, plainly(err))
	}
	s.shown(r.ctx, written)
	return s.getNode(r)
}

func (s *server) getOrphan(r request) (any, error) { return show(r, s.reader, present.NewOrphan) }

func (s *server) getVolumeAttachment(r request) (any, error) {
	return show(r, s.reader, present.NewVolumeAttachment)
}

func (s *server) getInstanceManager(r request) (any, error) {
	return show(r, s.reader, present.NewInstanceManager)
}

func (s *server) getEngineImage(r request) (any, error) {
	images, err := s.engineImages(r)
	if err != nil {
		return nil, err
	}
	for _, i := range images {
		if i.Name == r.name {
			return i, nil
		}
	}
	return nil, notFound("engine image", r.name)
}

func (s *server) getRecurringJob(r request) (any, error) {
	return show(r, s.reader, present.NewRecurringJob)
}

func (s *server) createRecurringJob(r request) (any, error) {
	var in change.JobInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	j, err := change.NewRecurringJob(s.reader.namespace, in)
	if err != nil {
		return nil, err
	}
	if err := s.client.Create(r.ctx, j); err != nil {
		return nil, fmt.Errorf("creating recurring job %s: %w", j.Name, plainly(err))
	}
	s.shown(r.ctx, j)
	return present.NewRecurringJob(r.base, j), nil
}

// putRecurringJob changes a job, except its name and its task.
func (s *server) putRecurringJob(r request) (any, error) {
	var in change.JobInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	j, err := find(r.ctx, s.reader, r.name, &v1beta2.RecurringJob{})
	if err != nil {
		return nil, err
	}
	var written client.Object
	if err := status.MergeSpec(r.ctx, s.client, j, change.JobFields(in), status.Written(&written)); err != nil {
		return nil, fmt.Errorf("changing recurring job %s: %w", j.Name, plainly(err))
	}
	s.shown(r.ctx, written)
	return s.getRecurringJob(r)
}

func (s *server) createBackupTarget(r request) (any, error) {
	var in change.TargetInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	t := &v1beta2.BackupTarget{ObjectMeta: metav1.ObjectMeta{Namespace: s.reader.namespace, Name: in.Name}, Spec: in.Spec()}
	if err := s.client.Create(r.ctx, t); err != nil {
		return nil, fmt.Errorf("creating backup target %q: %w", in.Name, plainly(err))
	}
	s.shown(r.ctx, t)
	return present.NewBackupTarget(r.base, t), nil
}

func (s *server) actOnBackupTarget(r request) (any, error) {
	switch action := r.URL.Query().Get("action"); action {
	case "backupTargetUpdate":
		return s.changing(action, s.updateBackupTarget)(r)
	case "":
		return nil, wire.WithStatus(http.StatusBadRequest, errNoAction)
	default:
		return absentSync(r)
	}
}

func (s *server) updateBackupTarget(r request) (any, error) {
	var in change.TargetInput
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	t, err := find(r.ctx, s.reader, r.name, &v1beta2.BackupTarget{})
	if err != nil {
		return nil, err
	}
	spec := in.Spec()
	var written client.Object
	err = status.MergeSpec(r.ctx, s.client, t, map[string]any{"backupTargetURL": spec.BackupTargetURL,
		"credentialSecret": spec.CredentialSecret, "pollInterval": spec.PollInterval}, status.Written(&written))
	if err != nil {
		return nil, fmt.Errorf("changing backup target %s: %w", t.Name, plainly(err))
	}
	s.shown(r.ctx, written)
	return s.getBackupTarget(r)
}
