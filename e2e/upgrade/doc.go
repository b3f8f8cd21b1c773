// Package upgrade replaces the v2 data engine under running volumes, on a real API server: the controllers as processes of
// their own under their own Roles, and the simulator as the data plane, with a workload that never stops on each volume.
package upgrade
