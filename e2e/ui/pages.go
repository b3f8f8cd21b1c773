package main

import (
	"context"
	"errors"
	"fmt"
)

// pages are the pages of the interface by their address, each with a text that it shows once it has its data.
var pages = []struct{ address, shows string }{
	{"dashboard", "Event Log"},
	{"node", "node-3"},
	{"volume", "shown"},
	{"volume/shown", "shown-sn"},
	{"recurringJob", "Create Recurring Job"},
	{"backup", "Backup Volumes"},
	{"backupTarget", "Create Backup Target"},
	{"systemBackups", "System Restore"},
	{"backingImage", "Create Backing Image"},
	{"orphanedData", "Replica Data"},
	{"orphanedData#instance", "Instance Manager"},
	{"engineimage", "longhorn-engine"},
	{"instanceManager", "longhorn-instance-manager"},
	{"setting", "Orphan Resource Auto Deletion Grace Period"},
	{"nowhere", "Dashboard"},
}

// seePages opens every page: it renders, and the console of the browser has no error.
func (p *person) seePages(context.Context) error {
	var failed error
	for _, page := range pages {
		failed = errors.Join(failed, p.step(fmt.Sprintf("page %s shows %q", page.address, page.shows), func() error {
			if err := p.open(page.address); err != nil {
				return err
			}
			return p.waitForText(page.shows)
		}))
	}
	return failed
}
