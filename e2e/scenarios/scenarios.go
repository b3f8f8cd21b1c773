package scenarios

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Scenarios are the scenarios of orphans. Each write and each call in them is a crash point.
func Scenarios() []Scenario {
	return []Scenario{disowned(), stoppedObject(), replaced(), deletedByHand(), scheduledBack(), evicted(), automatic()}
}

// attached creates one v1 and one v2 volume whose engines run near, with replicas near and far. Without v2 both are v1 volumes.
func attached(ctx context.Context, s *Scene) (err error) {
	if s.V1, err = s.CreateVolume(ctx, world.Unique("v1"), v1beta2.DataEngineV1, Near, Near, Far); err != nil {
		return err
	}
	if s.V2, err = s.CreateVolume(ctx, world.Unique("v2"), world.FullDataEngine(), Near, Near, Far); err != nil {
		return err
	}
	return s.WaitOwners(ctx, Patience)
}

// O1: the objects of live instances are gone.
func disowned() Scenario {
	return Scenario{
		ID: "O1", Sentence: "the objects of live instances are gone: orphans, v1 and v2", Setup: attached,
		Act: func(ctx context.Context, s *Scene) error {
			for _, v := range []*world.Volume{s.V1, s.V2} {
				if err := s.disownNear(ctx, v); err != nil {
					return err
				}
			}
			return nil
		},
		End: func(ctx context.Context, s *Scene) error {
			for _, stale := range s.Stale {
				if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
					return err
				}
				s.MayStay[stale.Orphan()] = true
			}
			return s.OrphansAre(ctx, s.Stale)
		},
	}
}

// disownNear deletes the Engine and the near Replica, so that no object claims their instances.
func (s *Scene) disownNear(ctx context.Context, v *world.Volume) error {
	stale, err := s.World.Stale(ctx, v, Near)
	if err != nil {
		return err
	}
	for _, instance := range stale {
		if err := s.DisownInstance(ctx, instance); err != nil {
			return err
		}
	}
	s.Stale = append(s.Stale, stale...)
	return nil
}

// O6: the objects are stopped while their instances still run.
func stoppedObject() Scenario {
	return Scenario{
		ID: "O6", Sentence: "objects are stopped while their instances run: the runtime ends, claimed data stays", Setup: attached,
		Act: func(ctx context.Context, s *Scene) error {
			for _, v := range []*world.Volume{s.V1, s.V2} {
				if err := s.stopNear(ctx, v); err != nil {
					return err
				}
			}
			return s.deleteAllWhenThere(ctx)
		},
		End: func(ctx context.Context, s *Scene) error {
			return s.allEnded(ctx)
		},
	}
}

// stopNear sets the Engine and the near Replica to stopped.
func (s *Scene) stopNear(ctx context.Context, v *world.Volume) error {
	stale, err := s.World.Stale(ctx, v, Near)
	if err != nil {
		return err
	}
	for _, instance := range stale {
		object, err := s.Owner(ctx, instance)
		if err != nil {
			return err
		}
		if err := s.StopObjectOnly(ctx, object); err != nil {
			return err
		}
		s.Allow(instance, instance.Type == v1beta2.InstanceTypeEngine)
	}
	s.Stale = append(s.Stale, stale...)
	return nil
}

// deleteAllWhenThere deletes the orphan of every stale instance, as a person who waits for them would.
func (s *Scene) deleteAllWhenThere(ctx context.Context) error {
	for _, instance := range s.Stale {
		if _, err := s.WaitOrphan(ctx, instance, Patience); err != nil {
			return err
		}
		if err := s.DeleteOrphan(ctx, instance.Orphan()); err != nil {
			return err
		}
	}
	return nil
}

// allEnded waits until no stale instance runs or has an Orphan. An instance must end before its Orphan: an Orphan that
// ends while its instance runs is a failure. An Orphan that was never seen may still be created while its instance
// runs, so allEnded first waits for the end of that instance.
func (s *Scene) allEnded(ctx context.Context) error {
	for _, instance := range s.Stale {
		if !s.seen[instance.Orphan()] {
			if err := s.Wait(ctx, "the end of "+instance.Name, Patience, s.notRunning(instance)); err != nil {
				return err
			}
		}
		if err := s.WaitOrphanGone(ctx, instance.Orphan(), Patience); err != nil {
			return err
		}
		why, err := s.notRunning(instance)(ctx)
		if err != nil {
			return err
		}
		if why != "" {
			return fmt.Errorf("the orphan of %s has ended, but %s", instance.Name, why)
		}
	}
	return nil
}

// WaitOrphan calls the World's, and records which Orphans existed.
func (s *Scene) WaitOrphan(ctx context.Context, stale world.Stale, within time.Duration) (*v1beta2.Orphan, error) {
	orphan, err := s.World.WaitOrphan(ctx, stale, within)
	if err == nil {
		if s.seen == nil {
			s.seen = map[string]bool{}
		}
		s.seen[stale.Orphan()] = true
	}
	return orphan, err
}

func (s *Scene) notRunning(instance world.Stale) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		running, err := s.Inventory(ctx, instance.InstanceManager)
		if err != nil {
			return "", err
		}
		if r := running[instance.Name]; r.UUID == instance.UUID && r.State == v1beta2.InstanceStateRunning {
			return "it still runs on " + instance.Node, nil
		}
		return "", nil
	}
}

// O8: between evaluation and deletion the name gets a new instance.
func replaced() Scenario {
	return Scenario{
		ID: "O8", Sentence: "the name restarts with a new UUID between evaluation and deletion: the new instance lives",
		Setup: func(ctx context.Context, s *Scene) error {
			if err := attached(ctx, s); err != nil {
				return err
			}
			if err := s.disownNear(ctx, s.V1); err != nil {
				return err
			}
			_, err := s.WaitOrphan(ctx, s.Stale[0], Patience)
			return err
		},
		Act: func(ctx context.Context, s *Scene) error {
			old := s.Stale[0]
			fresh, err := s.ReplaceInstance(ctx, old)
			if err != nil {
				return err
			}
			if err := s.DeleteOrphanIfThere(ctx, old.Orphan()); err != nil {
				return err
			}
			renewed := old
			renewed.UUID = fresh.UUID
			s.Stale[0] = renewed
			return s.WaitOrphanGone(ctx, old.Orphan(), Patience)
		},
		End: func(ctx context.Context, s *Scene) error {
			for _, stale := range s.Stale {
				if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
					return err
				}
				s.MayStay[stale.Orphan()] = true
				if err := s.Runs(ctx, stale.InstanceManager, stale.Name); err != nil {
					return err
				}
			}
			return s.OrphansAre(ctx, s.Stale)
		},
	}
}

// O9: a person deletes orphans.
func deletedByHand() Scenario {
	return Scenario{
		ID: "O9", Sentence: "orphans are deleted by a person: one effective deletion each, the objects end after the absence was proven",
		Setup: func(ctx context.Context, s *Scene) error {
			if err := attached(ctx, s); err != nil {
				return err
			}
			for _, v := range []*world.Volume{s.V1, s.V2} {
				if err := s.disownNear(ctx, v); err != nil {
					return err
				}
			}
			for _, stale := range s.Stale {
				s.Allow(stale, true)
				if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
					return err
				}
			}
			return nil
		},
		Act: func(ctx context.Context, s *Scene) error { return s.deleteAllWhenThere(ctx) },
		End: func(ctx context.Context, s *Scene) error {
			if err := s.allEnded(ctx); err != nil {
				return err
			}
			counts, err := s.EffectiveDeletions(ctx)
			if err != nil {
				return err
			}
			for _, stale := range s.Stale {
				if counts[stale.UUID] != 1 {
					return fmt.Errorf("%s was deleted %d times, not once", stale.Name, counts[stale.UUID])
				}
			}
			return nil
		},
	}
}

// O10: the object is scheduled back before the deletion.
func scheduledBack() Scenario {
	return Scenario{
		ID: "O10", Sentence: "the object is scheduled back between evaluation and deletion: no call, the orphan ends",
		Setup: func(ctx context.Context, s *Scene) error {
			if err := attached(ctx, s); err != nil {
				return err
			}
			stale, err := s.World.Stale(ctx, s.V1, Near)
			if err != nil {
				return err
			}
			s.Stale = stale[:1] // the engine
			if err := s.SetNodeInObject(ctx, s.Stale[0], Third); err != nil {
				return err
			}
			if err := s.WaitOwners(ctx, Patience); err != nil {
				return err
			}
			_, err = s.WaitOrphan(ctx, s.Stale[0], Patience)
			return err
		},
		Act: func(ctx context.Context, s *Scene) error {
			if err := s.SetNodeInObject(ctx, s.Stale[0], Near); err != nil {
				return err
			}
			return s.DeleteOrphanIfThere(ctx, s.Stale[0].Orphan())
		},
		End: func(ctx context.Context, s *Scene) error {
			if err := s.WaitOrphanGone(ctx, s.Stale[0].Orphan(), Patience); err != nil {
				return err
			}
			return s.Whole(ctx, s.V1)
		},
	}
}

// O12: a node is evicted.
func evicted() Scenario {
	return Scenario{
		ID: "O12", Sentence: "the node is evicted: its orphans are cleaned up, but not a last copy",
		Setup: func(ctx context.Context, s *Scene) error {
			if err := attached(ctx, s); err != nil {
				return err
			}
			return s.disownNear(ctx, s.V1)
		},
		Act: func(ctx context.Context, s *Scene) error {
			orphans := s.Stale
			for _, stale := range s.Stale {
				s.Allow(stale, true)
			}
			if s.V2.DataEngine == v1beta2.DataEngineV2 { // a v1 process is no copy: its deletion keeps the data
				last, err := s.lastCopy(ctx)
				if err != nil {
					return err
				}
				orphans = append([]world.Stale{last}, orphans...)
				s.MayStay[last.Orphan()] = true
			}
			for _, stale := range orphans {
				if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
					return err
				}
			}
			return s.Evict(ctx, Near, true)
		},
		End: func(ctx context.Context, s *Scene) error {
			if err := s.allEnded(ctx); err != nil {
				return err
			}
			for name := range s.MayStay {
				if err := s.WaitCondition(ctx, name, v1beta2.OrphanCleanupApproved, v1beta2.ConditionFalse, v1beta2.ReasonLastCopy,
					Patience); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// lastCopy disowns the near replica of the v2 volume and makes its far one unhealthy.
func (s *Scene) lastCopy(ctx context.Context) (world.Stale, error) {
	stale, err := s.World.Stale(ctx, s.V2, Near)
	if err != nil {
		return world.Stale{}, err
	}
	if err := s.Detach(ctx, s.V2); err != nil {
		return world.Stale{}, err
	}
	for _, name := range s.V2.Replicas {
		if name != stale[1].Name {
			if err := s.FailReplica(ctx, name); err != nil {
				return world.Stale{}, err
			}
		}
	}
	return stale[1], s.DisownInstance(ctx, stale[1])
}

// O13: auto deletion is switched on.
func automatic() Scenario {
	return Scenario{
		ID: "O13", Sentence: "auto deletion with a grace period takes existing and new orphans",
		Setup: func(ctx context.Context, s *Scene) error {
			if err := attached(ctx, s); err != nil {
				return err
			}
			if err := s.disownNear(ctx, s.V1); err != nil {
				return err
			}
			for _, stale := range s.Stale {
				if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
					return err
				}
			}
			return nil
		},
		Act: func(ctx context.Context, s *Scene) error {
			for _, stale := range s.Stale {
				s.Allow(stale, true)
			}
			stale, err := s.World.Stale(ctx, s.V2, Near)
			if err != nil {
				return err
			}
			s.Allow(stale[0], true)
			if err := s.SetAutoDeletion(ctx, "instance", "2"); err != nil {
				return err
			}
			s.Stale = append(s.Stale, stale[0])
			return s.DisownInstance(ctx, stale[0])
		},
		End: func(ctx context.Context, s *Scene) error { return s.allEnded(ctx) },
	}
}
