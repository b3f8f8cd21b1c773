package snapshot

import (
	"context"
	"fmt"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near     = scenarios.Near
	patience = scenarios.Patience
)

// The methods that the simulator's journal counts.
const (
	taking   = "VolumeSnapshot"
	removing = "SnapshotRemove"
)

// Scenarios are the scenarios of snapshots. Each write and each call in them is a crash point.
func Scenarios() []scenarios.Scenario {
	scenarioList := []scenarios.Scenario{takenAttached(), takenDetached(), takenBack(), cutInTheCall(), removed(), removedDetached(),
		goesWithItsVolume(),
		takenForKubernetes()}
	for i := range scenarioList {
		scenarioList[i].Topology = scenarios.Snapshots
	}
	return scenarioList
}

// order creates the scenario's volume.
func order(engine string) func(context.Context, *scenarios.Scene) error {
	return func(ctx context.Context, s *scenarios.Scene) error {
		s.Volume = world.Unique("scenario")
		if err := s.Order(ctx, s.Volume, engine, 2, nil); err != nil {
			return err
		}
		return s.WaitDetached(ctx, s.Volume, patience)
	}
}

// attached orders a volume, attaches it near, and takes as many snapshots, each with data of its own before it.
func attached(engine string, snapshots int) func(context.Context, *scenarios.Scene) error {
	return func(ctx context.Context, s *scenarios.Scene) error {
		if err := order(engine)(ctx, s); err != nil {
			return err
		}
		if err := s.Ticket(ctx, s.Volume, "csi-pod", v1beta2.AttacherCSI, near, nil); err != nil {
			return err
		}
		if err := s.WaitTicket(ctx, s.Volume, "csi-pod", true, "", patience); err != nil {
			return err
		}
		for n := range snapshots {
			if err := s.Write(ctx, s.Volume, n, numbered(s, n)); err != nil {
				return err
			}
			if err := take(ctx, s, n); err != nil {
				return err
			}
			if err := s.WaitSnapshot(ctx, numbered(s, n), v1beta2.SnapshotReady, v1beta2.ReasonReady, patience); err != nil {
				return err
			}
		}
		return nil
	}
}

// numbered is the name of the Scene's n-th snapshot.
func numbered(s *scenarios.Scene, n int) string { return fmt.Sprintf("%s-s%d", s.Volume, n) }

func take(ctx context.Context, s *scenarios.Scene, n int) error {
	return s.Snapshot(ctx, s.Volume, numbered(s, n))
}

func takeFirst(ctx context.Context, s *scenarios.Scene) error { return take(ctx, s, 0) }

func firstReady(ctx context.Context, s *scenarios.Scene) error {
	return s.WaitSnapshot(ctx, numbered(s, 0), v1beta2.SnapshotReady, v1beta2.ReasonReady, patience)
}

// carriedOut checks how often the data plane took and removed snapshots, and that no data was harmed. One removal may remove several.
func carriedOut(takes, removes int) func(context.Context, *scenarios.Scene) error {
	return func(ctx context.Context, s *scenarios.Scene) error {
		taken, err := s.EngineCalls(ctx, s.Volume, taking)
		if err != nil {
			return err
		}
		gone, err := s.EngineCalls(ctx, s.Volume, removing)
		if err != nil {
			return err
		}
		if taken != takes || gone > removes || removes > 0 && gone == 0 {
			return fmt.Errorf("SNP-2: %d were taken and %d removals carried out for volume %s, not %d and at most %d", taken, gone,
				s.Volume, takes, removes)
		}
		return s.NoHarm(ctx)
	}
}

// S1: a snapshot is requested on an attached volume.
func takenAttached() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S1", Sentence: "a snapshot of an attached volume is taken once", Setup: attached(world.FullDataEngine(), 0),
		Act: takeFirst, End: firstReady, Check: carriedOut(1, 0),
	}
}

// S2: a snapshot is requested on a detached volume.
func takenDetached() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S2", Sentence: "a detached volume is attached for its snapshot, and detached", Setup: order(v1beta2.DataEngineV1),
		Act: takeFirst,
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := firstReady(ctx, s); err != nil {
				return err
			}
			return letGo(ctx, s)
		},
		Check: carriedOut(1, 0),
	}
}

// letGo waits until the volume is detached and has no ticket.
func letGo(ctx context.Context, s *scenarios.Scene) error {
	if err := s.WaitDetached(ctx, s.Volume, patience); err != nil {
		return err
	}
	return s.Wait(ctx, "the tickets to go", patience, func(ctx context.Context) (string, error) {
		tickets, err := s.Tickets(ctx, s.Volume)
		if err != nil || len(tickets) == 0 {
			return "", err
		}
		return fmt.Sprintf("they are %v", tickets), nil
	})
}

// S2: a snapshot is requested and deleted at once; nothing stays, whether or not the call was made.
func takenBack() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S2b", Sentence: "a snapshot that is deleted before it was taken leaves nothing", Setup: order(world.FullDataEngine()),
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := takeFirst(ctx, s); err != nil {
				return err
			}
			return s.DeleteSnapshot(ctx, numbered(s, 0))
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitSnapshotGone(ctx, numbered(s, 0), patience); err != nil {
				return err
			}
			return letGo(ctx, s)
		},
		Check: func(ctx context.Context, s *scenarios.Scene) error {
			for _, method := range []string{taking, removing} {
				if is, err := s.EngineCalls(ctx, s.Volume, method); err != nil || is > 1 {
					return fmt.Errorf("SNP-2: %s was carried out %d times for volume %s: %w", method, is, s.Volume, err)
				}
			}
			return s.NoHarm(ctx)
		},
	}
}

// S4: as S1, through the v1 engine's own call.
func cutInTheCall() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S4", Sentence: "a crash between call and status: exactly one is taken", Setup: attached(v1beta2.DataEngineV1, 1),
		Act: func(ctx context.Context, s *scenarios.Scene) error { return take(ctx, s, 1) },
		End: func(ctx context.Context, s *scenarios.Scene) error {
			return s.WaitSnapshot(ctx, numbered(s, 1), v1beta2.SnapshotReady, v1beta2.ReasonReady, patience)
		},
		Check: carriedOut(2, 0),
	}
}

// S7: several snapshots are removed; the data of the others is complete.
func removed() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S7", Sentence: "two of three snapshots are removed, each once", Setup: attached(world.FullDataEngine(), 3),
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.DeleteSnapshot(ctx, numbered(s, 0)); err != nil {
				return err
			}
			return s.DeleteSnapshot(ctx, numbered(s, 1))
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			for n := range 2 {
				if err := s.WaitSnapshotGone(ctx, numbered(s, n), patience); err != nil {
					return err
				}
			}
			return s.WaitSnapshot(ctx, numbered(s, 2), v1beta2.SnapshotReady, v1beta2.ReasonReady, patience)
		},
		Check: func(ctx context.Context, s *scenarios.Scene) error {
			for n := range 3 {
				if err := s.Keeps(ctx, s.Volume, n, numbered(s, n)); err != nil {
					return err
				}
			}
			return carriedOut(3, 2)(ctx, s)
		},
	}
}

// S7: a snapshot of a detached volume is removed; the volume is attached for it and then detached.
func removedDetached() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S7b", Sentence: "a snapshot of a detached volume is removed where its data is",
		Setup: func(ctx context.Context, s *scenarios.Scene) error {
			if err := attached(world.FullDataEngine(), 2)(ctx, s); err != nil {
				return err
			}
			if err := s.DropTicket(ctx, s.Volume, "csi-pod"); err != nil {
				return err
			}
			return letGo(ctx, s)
		},
		Act: func(ctx context.Context, s *scenarios.Scene) error { return s.DeleteSnapshot(ctx, numbered(s, 0)) },
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitSnapshotGone(ctx, numbered(s, 0), patience); err != nil {
				return err
			}
			return letGo(ctx, s)
		},
		Check: carriedOut(2, 1),
	}
}

// S9: a volume is deleted, and its snapshots with it, without a call for them.
func goesWithItsVolume() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S9", Sentence: "a deleted volume ends its snapshot", Setup: attached(v1beta2.DataEngineV1, 1),
		Act: func(ctx context.Context, s *scenarios.Scene) error { return s.DeleteVolume(ctx, s.Volume) },
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitSnapshotGone(ctx, numbered(s, 0), patience); err != nil {
				return err
			}
			return s.WaitVolumeGone(ctx, s.Volume, patience)
		},
		Check: carriedOut(1, 0),
	}
}
