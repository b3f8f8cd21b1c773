package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/api-gateway/internal/present"
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// list is a collection that clients read, and follow in a stream.
type list struct {
	// topics are the topics whose changes change the list. A list without topics is built for each request, and sent by the clock.
	topics []topic
	build  handler
}

// listCache keeps each collection until something of it changes: all clients share one text, each with its own links.
type listCache struct {
	changes *changes
	all     map[string]list
	// each holds the collection while nobody builds it: a change is encoded once, and not by each client that waits for it.
	each map[string]chan keptList
}

// keptList is a collection at a version.
type keptList struct {
	version uint64
	text    text // nil: the collection was never built
}

func newListCache(c *changes, all map[string]list) *listCache {
	each := map[string]chan keptList{}
	for name := range all {
		each[name] = make(chan keptList, 1)
		each[name] <- keptList{}
	}
	return &listCache{changes: c, all: all, each: each}
}

// get returns a collection.
func (c *listCache) get(ctx context.Context, name string) (text, error) {
	var kept keptList
	select {
	case kept = <-c.each[name]:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { c.each[name] <- kept }()
	l := c.all[name]
	version, _ := c.changes.version(l.topics...)
	if kept.text == nil || kept.version != version || len(l.topics) == 0 {
		built, err := encodeList(ctx, name, l)
		if err != nil {
			return nil, err
		}
		kept = keptList{version: version, text: built}
	}
	return kept.text, nil
}

// encodeList builds a collection.
func encodeList(ctx context.Context, name string, l list) (text, error) {
	built, err := l.build(request{ctx: ctx, base: anyBase})
	if err != nil {
		return nil, err
	}
	if encoded, isText := built.(text); isText {
		return encoded, nil
	}
	body, err := json.Marshal(built)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", name, err)
	}
	return text{{bytes: body}}, nil
}

// buildLists returns all collections by their path below /v1.
func (s *server) buildLists() map[string]list {
	lists := map[string]list{
		"volumes":           {[]topic{topicVolumes}, func(r request) (any, error) { return s.volumes.list(r.ctx) }},
		"nodes":             {[]topic{topicNodes}, s.listNodes},
		"settings":          {[]topic{topicSettings}, s.listSettings},
		"backuptargets":     {[]topic{topicBackupTargets}, s.listBackupTargets},
		"backupvolumes":     {[]topic{topicBackupVolumes}, s.listBackupVolumes},
		"backups":           {[]topic{topicVolumes}, s.listAllBackups},
		"volumeattachments": {[]topic{topicVolumes}, s.listVolumeAttachments},
		"orphans":           {[]topic{topicOrphans}, s.listOrphans},
		"instancemanagers":  {[]topic{topicNodes}, s.listInstanceManagers},
		"recurringjobs":     {[]topic{topicRecurringJobs}, s.listRecurringJobs},
		"engineimages":      {[]topic{topicEngineImages, topicSettings}, s.listEngineImages},
		"events":            {nil, s.listEvents},
		"disktags":          {[]topic{topicNodes}, func(r request) (any, error) { return s.listTags(r, "disk") }},
		"nodetags":          {[]topic{topicNodes}, func(r request) (any, error) { return s.listTags(r, "node") }},
	}
	for _, absent := range absentTypes {
		lists[pathOf(absent)] = list{[]topic{topicNone}, func(r request) (any, error) {
			return newCollection(r, absent, []struct{}{}), nil
		}}
	}
	return lists
}

// absentTypes are the types whose objects no controller of Drover makes: pages show their empty collections.
var absentTypes = []string{wire.TypeBackingImage, "backupBackingImage", "systemBackup", "systemRestore", "shard", "shardGroup",
	"supportBundle"}

func pathOf(resourceType string) string {
	return wire.CollectionURL("", resourceType)[len("/"+wire.Version+"/"):]
}

// collect reads the objects of one kind into a list, whose field is items, and answers with their resources by name.
func collect[T any, P object[T], R any](r request, from reader, resourceType string, list client.ObjectList, items *[]T,
	newResource func(base string, of *T) R, selected ...client.ListOption) (any, error) {
	if err := lookup.ListShared(r.ctx, from.cache, from.namespace, list, selected...); err != nil {
		return nil, err
	}
	out := make([]R, 0, len(*items))
	for _, o := range byName[T, P](*items) {
		out = append(out, newResource(r.base, o))
	}
	return newCollection(r, resourceType, out), nil
}

func (s *server) listAllBackups(r request) (any, error) {
	var list v1beta2.BackupList
	return collect(r, s.reader, wire.TypeBackup, &list, &list.Items, present.NewBackup)
}

func (s *server) listVolumeAttachments(r request) (any, error) {
	var list v1beta2.VolumeAttachmentList
	return collect(r, s.reader, wire.TypeVolumeAttachment, &list, &list.Items, present.NewVolumeAttachment)
}

func (s *server) listOrphans(r request) (any, error) {
	var list v1beta2.OrphanList
	return collect(r, s.reader, wire.TypeOrphan, &list, &list.Items, present.NewOrphan)
}

func (s *server) listInstanceManagers(r request) (any, error) {
	var list v1beta2.InstanceManagerList
	return collect(r, s.reader, wire.TypeInstanceManager, &list, &list.Items, present.NewInstanceManager)
}

func (s *server) listRecurringJobs(r request) (any, error) {
	var list v1beta2.RecurringJobList
	return collect(r, s.reader, wire.TypeRecurringJob, &list, &list.Items, present.NewRecurringJob)
}

func (s *server) listBackupTargets(r request) (any, error) {
	var list v1beta2.BackupTargetList
	return collect(r, s.reader, wire.TypeBackupTarget, &list, &list.Items, present.NewBackupTarget)
}

func (s *server) listBackupVolumes(r request) (any, error) {
	var list v1beta2.BackupVolumeList
	return collect(r, s.reader, wire.TypeBackupVolume, &list, &list.Items, present.NewBackupVolume)
}

func (s *server) listEngineImages(r request) (any, error) {
	images, err := s.engineImages(r)
	return newCollection(r, wire.TypeEngineImage, images), err
}

// engineImages returns the engine images. Without an object of the default image an entry stands for it: pages show no version otherwise.
func (s *server) engineImages(r request) ([]present.EngineImage, error) {
	byDefault, err := s.reader.settingValue(r.ctx, "default-engine-image", v1beta2.DataEngineV1)
	if err != nil {
		return nil, err
	}
	var found v1beta2.EngineImageList
	if err := lookup.ListShared(r.ctx, s.reader.cache, s.reader.namespace, &found); err != nil {
		return nil, err
	}
	out, hasDefault := []present.EngineImage{}, false
	for _, i := range byName(found.Items) {
		out = append(out, present.NewEngineImage(r.base, i, byDefault))
		hasDefault = hasDefault || i.Spec.Image == byDefault
	}
	if !hasDefault && byDefault != "" {
		out = append(out, present.NewDefaultEngineImage(r.base, byDefault))
	}
	return out, nil
}

func (s *server) listTags(r request, kind string) (any, error) {
	nodes, err := s.nodes(r)
	return newCollection(r, wire.TypeTag, present.NewTags(r.base, kind, nodes)), err
}

// listEvents reads the events about Longhorn's objects from the API server: no cache keeps them.
func (s *server) listEvents(r request) (any, error) {
	var found corev1.EventList
	if err := lookup.List(r.ctx, s.reader.uncached, s.reader.namespace, &found, client.Limit(mostEvents)); err != nil {
		return nil, err
	}
	var out []present.Event
	for i := range found.Items {
		if found.Items[i].InvolvedObject.APIVersion == v1beta2.GroupVersion.String() {
			out = append(out, present.NewEvent(r.base, &found.Items[i]))
		}
	}
	return newCollection(r, wire.TypeEvent, out), nil
}

// mostEvents is the limit of events that one request reads.
const mostEvents = 2000

// topicNone is the topic of lists that never change.
const topicNone topic = "none"

// absent returns a handler for the resources of a type that has no objects.
func absent(resourceType string) handler {
	return func(r request) (any, error) {
		if r.Method == http.MethodGet {
			return nil, notFound(resourceType, r.name)
		}
		return nil, errNotDone(r.Method+" of "+resourceType, "no controller of Drover makes or removes these objects")
	}
}
