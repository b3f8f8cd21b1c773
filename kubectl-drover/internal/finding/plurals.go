package finding

// plurals are the resources of Drover's definitions.
var plurals = map[string]bool{
	"backingimagedatasources": true, "backingimages": true, "backups": true, "backuptargets": true, "backupvolumes": true,
	"dataengineupgrademanagers": true, "enginefrontends": true, "engineimages": true, "engines": true, "instancemanagers": true,
	"nodedataengineupgrades": true, "nodes": true, "orphans": true, "recurringjobs": true, "replicas": true, "settings": true,
	"sharemanagers": true, "snapshots": true, "volumeattachments": true, "volumes": true,
}
