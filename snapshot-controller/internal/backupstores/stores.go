package backupstores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/backuptarget"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
	"drover.dev/drover/snapshot-controller/internal/setting"
)

// Options are flags.
type Options struct {
	// Binaries is the directory with the binaries of engine images.
	Binaries string
	// Commands is how many commands read a target at once.
	Commands int
}

// DefaultOptions are those of a pod that has the directory of its node at the same path.
func DefaultOptions() Options {
	return Options{Binaries: managerimage.ControlPath + "/engine-binaries", Commands: 4}
}

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Binaries, "engine-binaries", o.Binaries,
		"directory with the binaries of engine images, of which that of default-engine-image reads backup targets")
	flags.IntVar(&o.Commands, "backup-commands", o.Commands, "commands that read a backup target at once, for each target")
}

// Stores finds stores.
type Stores struct {
	// Uncached reads the Secrets: those that count are those of now, and none is kept.
	Uncached  client.Reader
	Namespace string
	Settings  *settingcontroller.Source[setting.Values]
	Options   Options

	mutex  sync.Mutex
	places map[types.UID]places
}

// places are those of one target. Removals have one of their own, so that a long one keeps nobody from reading.
type places struct{ reads, removals enginecommand.Places }

// MissingError reports what a person has to provide before a target can be reached, as a sentence.
type MissingError struct {
	// Reason is that of the condition Listed.
	Reason, Sentence string
}

// Error implements error.
func (e *MissingError) Error() string { return e.Sentence }

// Of returns the store of a target, to read it.
func (s *Stores) Of(ctx context.Context, t *v1beta2.BackupTarget) (enginecommand.Store, error) {
	return s.of(ctx, t, func(p places) enginecommand.Places { return p.reads })
}

// ForRemoval returns the store of a target, to remove something.
func (s *Stores) ForRemoval(ctx context.Context, t *v1beta2.BackupTarget) (enginecommand.Store, error) {
	return s.of(ctx, t, func(p places) enginecommand.Places { return p.removals })
}

func (s *Stores) of(ctx context.Context, t *v1beta2.BackupTarget, of func(places) enginecommand.Places) (enginecommand.Store, error) {
	values, err := s.Settings.Current(ctx, v1beta2.DataEngineV1)
	if err != nil {
		return enginecommand.Store{}, err
	}
	binary, err := s.binary(values.EngineImage)
	if err != nil {
		return enginecommand.Store{}, err
	}
	credentials := backuptarget.Reader{Client: s.Uncached, Namespace: s.Namespace}
	env, err := credentials.Credentials(ctx, t)
	if missing := new(backuptarget.MissingError); errors.As(err, &missing) {
		return enginecommand.Store{}, &MissingError{Reason: v1beta2.ReasonCredentialsMissing, Sentence: missing.Error()}
	}
	if err != nil {
		return enginecommand.Store{}, err
	}
	return enginecommand.Store{Binary: binary, URL: t.Spec.BackupTargetURL, Env: env, Limit: values.BackupTimeout,
		Places: of(s.placesOf(t.UID))}, nil
}

func (s *Stores) placesOf(target types.UID) places {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.places == nil {
		s.places = map[types.UID]places{}
	}
	p, known := s.places[target]
	if !known {
		p = places{reads: enginecommand.NewPlaces(s.AtOnce()), removals: enginecommand.NewPlaces(1)}
		s.places[target] = p
	}
	return p
}

// AtOnce is how many commands may read a target at once.
func (s *Stores) AtOnce() int { return max(s.Options.Commands, 1) }

// binary finds the engine's binary.
func (s *Stores) binary(image string) (string, error) {
	if image == "" {
		return "", &MissingError{Reason: v1beta2.ReasonNoEngineBinary,
			Sentence: "The Setting default-engine-image is empty: the binary of that image reads backup targets; set it."}
	}
	path := filepath.Join(s.Options.Binaries, v1beta2.EngineBinaryDirectory(image), "longhorn")
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0:
		return path, nil
	case err == nil:
		err = errors.New("it is no program")
	}
	return "", &MissingError{Reason: v1beta2.ReasonNoEngineBinary, Sentence: fmt.Sprintf(
		"The engine's binary %s cannot be run in the pod of snapshot-controller (%v): see that the engine image %s is deployed on its node, and "+
			"that the pod has the directory %s of the node.", path, enginecommand.WithoutPath(err), image, s.Options.Binaries)}
}
