package main

import (
	"fmt"
	"slices"
	"strings"
)

// controllers have a dashboard of their own, with the panels that all of them have, and those of their own metrics.
var controllers = map[string][]row{
	"api-gateway": apiGateway, "attach-controller": attachController, "disk-controller": diskController, "im-monitor": imMonitor,
	"orphan-controller": orphanController, "snapshot-controller": snapshotController, "upgrade-controller": upgradeController,
}

func dashboards() []dashboard {
	all := []dashboard{{"drover", "Drover", "The whole system: what needs a person, what the controllers do, and what they need for it.",
		system}}
	for name, own := range controllers {
		needs := process(name)
		if name == "api-gateway" {
			needs = needs.without("Leads", "Reconciles", "Reconcile errors", "Reconcile time", "Queue")
		}
		all = append(all, dashboard{name, "Drover / " + name, "What " + name + " does, waits for, and needs.", append(own, needs)})
	}
	return all
}

// rate is a panel of a counter per second; events is one of how often rare things happened.
func rate(title, about, counter, by string) panel {
	return panel{title, about, "ops", third, []query{{fmt.Sprintf(`sum by (%s) (rate(%s{$ns}[$__rate_interval]))`, by, counter), legend(by)}}}
}

func events(title, about, counter, by string) panel {
	return panel{title, about, "short", third,
		[]query{{fmt.Sprintf(`sum by (%s) (increase(%s{$ns}[$__rate_interval]))`, by, counter), legend(by)}}}
}

// gauge is a panel of present values.
func gauge(title, about, metric, by string) panel {
	return panel{title, about, "short", third, []query{{fmt.Sprintf(`sum by (%s) (%s{$ns})`, by, metric), legend(by)}}}
}

// total is a small panel of one number.
func total(title, about, expr string) panel {
	return panel{title, about, "short", small, []query{{expr, ""}}}
}

func refused(controller string) panel {
	return total("Settings refused", "Settings whose value is refused; the last good one, or the default, is in force.",
		fmt.Sprintf(`sum(max by (setting) (drover_%s_setting_invalid{$ns}))`, strings.ReplaceAll(controller, "-", "_")))
}

func legend(by string) string {
	return "{{" + strings.ReplaceAll(by, ", ", "}} {{") + "}}"
}

// process are the panels that each controller has.
func process(name string) row {
	me := fmt.Sprintf(`$ns, job=~".*%s.*"`, name)
	per := func(metric string) string { return fmt.Sprintf(`rate(%s{%s}[$__rate_interval])`, metric, me) }
	return row{"Process", []panel{
		{"Leads", "1 for the pod that holds the lease drover-" + name + ".", "short", third,
			[]query{{fmt.Sprintf(`max by (pod) (leader_election_master_status{name="drover-%s", $ns})`, name), "{{pod}}"}}},
		{"Reconciles", "Evaluations of objects per second.", "ops", third,
			[]query{{"sum by (controller) (" + per("controller_runtime_reconcile_total") + ")", "{{controller}}"}}},
		{"Reconcile errors", "Evaluations per second that ended with an error and are repeated.", "ops", third,
			[]query{{"sum by (controller) (" + per("controller_runtime_reconcile_errors_total") + ")", "{{controller}}"}}},
		{"Reconcile time", "How long 99 of 100 evaluations take at most.", "s", third, []query{{
			"histogram_quantile(0.99, sum by (le, controller) (" +
				per("controller_runtime_reconcile_time_seconds_bucket") + "))", "{{controller}}"}}},
		{"Queue", "Objects that wait to be evaluated.", "short", third,
			[]query{{fmt.Sprintf(`sum by (name) (workqueue_depth{%s})`, me), "{{name}}"}}},
		{"Requests to the API server", "Per second, by verb and status.", "ops", third,
			[]query{{"sum by (method, code) (" + per("rest_client_requests_total") + ")", "{{method}} {{code}}"}}},
		{"Memory", "Resident memory of each pod.", "bytes", half, []query{{fmt.Sprintf(`process_resident_memory_bytes{%s}`, me), "{{pod}}"}}},
		{"Processor", "Seconds of processor time that each pod uses per second.", "short", half,
			[]query{{per("process_cpu_seconds_total"), "{{pod}}"}}},
	}}
}

// without drops panels by their titles.
func (r row) without(titles ...string) row {
	r.panels = slices.DeleteFunc(r.panels, func(p panel) bool { return slices.Contains(titles, p.title) })
	return r
}

var system = []row{
	{"What needs a person", []panel{
		{"Alerts", "Drover's alerts that fire now.", "short", size{"stat", 8, 4},
			[]query{{`sum by (alertname, severity) (ALERTS{alertname=~"Drover.+", alertstate="firing"})`, "{{alertname}} {{severity}}"}}},
		total("Leaders", "Controllers that have a leader, of five.", `count(max by (name) (leader_election_master_status{name=~"drover-.+", $ns} == 1))`),
		total("Blocked tickets", "Who wants a volume and cannot have it, for a reason that a person must resolve: kubectl drover doctor.",
			`sum(drover_attach_controller_tickets_blocked{$ns})`),
		total("Unknown inventories", "Instance managers without a whole list.",
			`sum(drover_im_monitor_instance_managers{inventory="unknown", $ns})`),
		total("Settings refused", "Settings whose value is refused by one of the controllers.",
			`sum(max by (setting) (drover_attach_controller_setting_invalid{$ns} or drover_im_monitor_setting_invalid{$ns}
or drover_orphan_controller_setting_invalid{$ns} or drover_snapshot_controller_setting_invalid{$ns}))`),
	}},
	{"Volumes", []panel{
		events("Volume events", "What happened to volumes, by the reason of its event.",
			"drover_attach_controller_volume_events_total", "reason"),
		gauge("Instances that wait", "Engines, EngineFrontends and Replicas that are not as wanted.",
			"drover_im_monitor_instances_waiting", "kind, reason"),
		events("Replicas", "What was done with replicas.", "drover_attach_controller_replica_actions_total", "action"),
		events("Calls that change engines", "By what they ask for and how they ended.",
			"drover_im_monitor_engine_calls_total", "op, result"),
		events("Backups", "Backups that ended, by state.", "drover_im_monitor_backups_ended_total", "state"),
		events("Orphans", "Verdicts on orphans that were written.", "drover_orphan_controller_verdicts_total", "reason"),
	}},
	{"Data plane", []panel{
		gauge("Instance managers", "By whether their inventory is known.", "drover_im_monitor_instance_managers", "inventory"),
		rate("Calls", "Calls to instance managers per second, by gRPC code.", "drover_im_monitor_calls_total", "code"),
		gauge("Upgrades of the v2 data engine", "By their present state.", "drover_upgrade_controller_manager_state", "manager, state"),
	}},
	{"Controllers", []panel{
		{"Reconcile errors", "Evaluations per second that ended with an error and are repeated.", "ops", third, []query{{
			`sum by (job) (rate(controller_runtime_reconcile_errors_total{$ns, job=~".*(` + names + `).*"}[$__rate_interval]))`, "{{job}}"}}},
		{"Requests to the API server", "Per second.", "ops", third,
			[]query{{`sum by (job) (rate(rest_client_requests_total{$ns, job=~".*(` + names + `).*"}[$__rate_interval]))`, "{{job}}"}}},
		{"Memory", "Resident memory of each pod.", "bytes", third,
			[]query{{`process_resident_memory_bytes{$ns, job=~".*(` + names + `).*"}`, "{{pod}}"}}},
	}},
}

const names = "api-gateway|attach-controller|disk-controller|im-monitor|orphan-controller|snapshot-controller|upgrade-controller"

// apiGateway has no leader and reconciles nothing.
var apiGateway = []row{{"REST API", []panel{
	rate("Requests", "Requests to the REST API per second, by status.", "drover_api_gateway_requests_total", "status"),
	{"Request time", "How long 99 of 100 requests take at most, by route.", "s", third, []query{{
		`histogram_quantile(0.99, sum by (le, route) (rate(drover_api_gateway_request_seconds_bucket{$ns}[$__rate_interval])))`, "{{route}}"}}},
	events("Changes", "What clients changed, by action and result.", "drover_api_gateway_writes_total", "action, result"),
	rate("Refused", "Requests per second that a limit or the check of their origin refused, by status.",
		"drover_api_gateway_refused_total", "status"),
	total("Streams", "WebSockets that are open.", `sum(drover_api_gateway_streams{$ns})`),
}}}

var attachController = []row{
	{"Tickets", []panel{
		gauge("Blocked tickets", "Tickets that are not served now, for a reason that a person must resolve.",
			"drover_attach_controller_tickets_blocked", "reason"),
		events("Answers", "Answers to tickets that changed, by reason.", "drover_attach_controller_ticket_answers_total", "reason"),
		events("Changes of tickets", "Tickets of the volume's own work, and tickets that ended.",
			"drover_attach_controller_ticket_changes_total", "attacher, reason"),
		events("Wanted nodes", "Changes of the node where a volume is wanted, by the row of the decision table.",
			"drover_attach_controller_spec_changes_total", "row"),
		{"Overtaken answers", "Answers not given because the volume had changed since it was evaluated.", "short", third,
			[]query{{`sum(increase(drover_attach_controller_answers_overtaken_total{$ns}[$__rate_interval]))`, "overtaken"}}},
	}},
	{"Volumes and replicas", []panel{
		events("Volume events", "What happened to volumes, by the reason of its event.",
			"drover_attach_controller_volume_events_total", "reason"),
		events("Replicas", "What was done with replicas.", "drover_attach_controller_replica_actions_total", "action"),
		events("Pods", "What was done for pods that lost their volume, or whose node is down.",
			"drover_attach_controller_pod_recoveries_total", "action"),
	}},
	{"Kubernetes", []panel{
		total("Holds the attacher's lease", "1 while a process attaches for Kubernetes in the external-attacher's place.",
			`sum(drover_attach_controller_csi_leading{$ns})`),
		refused("attach-controller"),
		events("VolumeAttachments", "Verdicts on VolumeAttachments of Kubernetes that were written.",
			"drover_attach_controller_csi_verdicts_total", "reason"),
	}},
}

var diskController = []row{{"Disks of type filesystem", []panel{
	gauge("Disks", "Disks of type filesystem (v1) of all nodes, by the reason of their condition Ready.",
		"drover_disk_controller_disks", "reason"),
	events("Prepared", "Directories that became disks.", "drover_disk_controller_prepared_total", "result"),
}}}

var imMonitor = []row{
	{"Instance managers", []panel{
		total("Instances", "Runtime instances in all known inventories.", `sum(drover_im_monitor_instances{$ns})`),
		total("Connections", "Connections to instance managers that are open or being made.", `sum(drover_im_monitor_connections{$ns})`),
		total("TLS reload failures", "Within a day: changed TLS files that could not be read.",
			`sum(increase(drover_im_monitor_tls_reload_failures_total{$ns}[1d]))`),
		refused("im-monitor"),
		gauge("Inventories", "Instance managers by whether their inventory is known.", "drover_im_monitor_instance_managers", "inventory"),
		rate("Calls", "Calls to instance managers per second, by gRPC code.", "drover_im_monitor_calls_total", "code"),
		{"Call time", "How long 99 of 100 calls take at most.", "s", third, []query{{
			`histogram_quantile(0.99, sum by (le, method) (rate(drover_im_monitor_call_duration_seconds_bucket{$ns}[$__rate_interval])))`, "{{method}}"}}},
		rate("Whole lists", "Lists read per second, by cause.", "drover_im_monitor_lists_total", "cause"),
	}},
	{"Instances", []panel{
		gauge("Waiting", "Engines, EngineFrontends and Replicas that are not as wanted.",
			"drover_im_monitor_instances_waiting", "kind, reason"),
		events("Calls for instances", "By operation and outcome.", "drover_im_monitor_instance_calls_total", "op, outcome"),
		events("Transitions", "Changes of currentState.", "drover_im_monitor_instance_transitions_total", "kind, state"),
	}},
	{"Engines, snapshots and backups", []panel{
		rate("Polls of engines", "Per second, by result.", "drover_im_monitor_engine_looks_total", "result"),
		events("Calls that change engines", "By what they ask for and how they ended.",
			"drover_im_monitor_engine_calls_total", "op, result"),
		{"Repeated rebuilds", "Rebuilds that ended without their caller.", "short", third,
			[]query{{`sum(increase(drover_im_monitor_rebuilds_stranded_total{$ns}[$__rate_interval]))`, "repeated"}}},
		events("Calls that change snapshots", "By what they ask for and how they ended.",
			"drover_im_monitor_snapshot_calls_total", "op, result"),
		events("Conditions of Snapshots", "That were written, by type and reason.",
			"drover_im_monitor_snapshot_conditions_total", "type, reason"),
		{"Snapshots that were found", "Snapshot objects created for snapshots of engines that had none.", "short", third,
			[]query{{`sum(increase(drover_im_monitor_snapshots_mirrored_total{$ns}[$__rate_interval]))`, "created"}}},
		events("Backups requested", "From engines, by the result of the call.", "drover_im_monitor_backup_calls_total", "result"),
		events("Backups ended", "By state.", "drover_im_monitor_backups_ended_total", "state"),
	}},
	{"Orphans and data of deleted replicas", []panel{
		gauge("Undecided", "Instances that the orphan evaluation leaves undecided.", "drover_im_monitor_orphan_undecided", "reason"),
		events("Left undecided", "Transitions into a state that is left undecided.",
			"drover_im_monitor_orphan_non_decisions_total", "reason"),
		events("Orphans created", "By rule and data engine.", "drover_im_monitor_orphans_created_total", "reason, data_engine"),
		events("Orphans withdrawn", "By reason.", "drover_im_monitor_orphans_withdrawn_total", "reason"),
		events("Deletions of instances", "Attempts, by result.", "drover_im_monitor_orphan_deletions_total", "result"),
		{"Ends that were proven", "Deleted orphans whose instance is gone.", "short", third,
			[]query{{`sum(increase(drover_im_monitor_orphans_terminated_total{$ns}[$__rate_interval]))`, "proven"}}},
		events("Removals of data", "Tries to destroy the data of deleted replicas, by result.",
			"drover_im_monitor_replica_removal_tries_total", "result"),
		events("Removals that ended", "Deleted replicas whose data is gone or out of reach.",
			"drover_im_monitor_replica_removals_total", "reason"),
	}},
}

var orphanController = []row{{"Orphans", []panel{
	events("Verdicts", "That were written, by reason.", "drover_orphan_controller_verdicts_total", "reason"),
	events("Deletions by policy", "By reason and data engine.", "drover_orphan_controller_deletions_total", "reason, data_engine"),
	events("Dry run", "Orphans that policy would have deleted.", "drover_orphan_controller_would_delete_total", "data_engine"),
	refused("orphan-controller"),
}}}

var snapshotController = []row{
	{"Snapshots and backups", []panel{
		events("Snapshots", "Verdicts on Snapshots that were written, by reason.", "drover_snapshot_controller_verdicts_total", "reason"),
		events("Backups", "Verdicts on Backups that were written, by reason.",
			"drover_snapshot_controller_backup_verdicts_total", "reason"),
		events("Recurring jobs", "Runs that ended, Snapshots and Backups created and deleted for them.",
			"drover_snapshot_controller_recurring_total", "what"),
		total("Stalled backups", "Backups of which engines have reported no progress for hours.",
			`sum(drover_snapshot_controller_backups_stalled{$ns})`),
		gauge("Paused jobs", "1 while a recurring job passes volumes over, because what it deleted of them is not removed.",
			"drover_snapshot_controller_recurring_job_paused", "recurring_job"),
	}},
	{"Backup targets", []panel{
		events("Readings", "Readings of backup targets, by the reason of the condition Listed.",
			"drover_snapshot_controller_backup_target_readings_total", "reason"),
		{"Commands", "99 of 100 commands of the engine about backup targets took at most this time.", "s", third, []query{{
			`histogram_quantile(0.99, sum by (le, command) (rate(drover_snapshot_controller_backup_command_seconds_bucket{$ns}[$__rate_interval])))`,
			"{{command}}"}}},
		events("Forgotten", "Backups and BackupVolumes that were deleted because their target does not have them any more.",
			"drover_snapshot_controller_backup_objects_forgotten_total", "kind"),
		total("Removed backups", "Backups whose data was removed from its target since the processes began.",
			`sum(drover_snapshot_controller_backups_removed_total{$ns})`),
	}},
	{"Kubernetes", []panel{
		total("Holds the snapshotter's lease", "1 while a process takes snapshots for Kubernetes in the csi-snapshotter's place.",
			`sum(drover_snapshot_controller_csi_leading{$ns})`),
		refused("snapshot-controller"),
		{"Certificate", "When the first certificate of the webhook expires.", "dateTimeFromNow", small,
			[]query{{`min(drover_snapshot_controller_webhook_certificate_expiry_timestamp_seconds{$ns}) * 1000`, ""}}},
		events("VolumeSnapshotContents", "Verdicts that were written, by the state that they lead to.",
			"drover_snapshot_controller_csi_verdicts_total", "reason"),
		rate("Webhook", "Answers to the API server per second.", "drover_snapshot_controller_webhook_answers_total", "webhook, answer"),
		events("Certificate steps", "What the leader did about the certificate.",
			"drover_snapshot_controller_webhook_certificate_steps_total", "step"),
	}},
}

var upgradeController = []row{{"Upgrades", []panel{
	gauge("Upgrades", "By their present state.", "drover_upgrade_controller_manager_state", "manager, state"),
	gauge("Nodes", "By the present state of their upgrade.", "drover_upgrade_controller_node_state", "node, state"),
	gauge("Stalled nodes", "1 while a step takes longer than its time.", "drover_upgrade_controller_node_stalled", "upgrade, node"),
	gauge("Volumes", "Volumes of the nodes under way, by state.", "drover_upgrade_controller_volume_state", "state"),
	events("Transitions", "States that were entered, of upgrades and of nodes.",
		"drover_upgrade_controller_transitions_total", "kind, state"),
}}}
