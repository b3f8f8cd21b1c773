// Package rehearsal tries what an upgrade will have to write and delete, before the upgrade changes anything.
//
// upgrade-controller requests the rehearsal by a time in the status of a DataEngineUpgradeManager. The leader of each binary that
// takes part sends its own requests as dry runs, by its own identity, so that roles, admission policies and webhooks answer as
// they will later. It writes what was refused into its own entry of status.rehearsals. A binary that does not answer blocks the
// upgrade as a refusal does.
//
// A dry run changes nothing and is sent only while an upgrade asks for it.
package rehearsal
