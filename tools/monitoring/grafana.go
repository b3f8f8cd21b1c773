package main

import "strings"

// dashboard is one page: groups of panels below each other.
type dashboard struct {
	name  string // of its file; the uid is drover- and the name
	title string
	about string
	rows  []row
}

// row is a group of panels under a title; its panels fill lines of 24 columns from the left.
type row struct {
	title  string
	panels []panel
}

// panel shows the values of expressions.
type panel struct {
	title, about string
	unit         string // of Grafana: short, ops, s, bytes …
	size         size
	queries      []query
}

// query is a PromQL expression, and how each of its series is named. In it $ns stands for the selector of the namespaces.
type query struct{ expr, legend string }

// size is the shape of a panel; small ones show the present value alone.
type size struct {
	kind          string
	width, height int
}

var (
	small = size{"stat", 4, 4}
	half  = size{"timeseries", 12, 8}
	third = size{"timeseries", 8, 8}
)

type object map[string]any

// source is the data source that the person who opens the dashboard selects.
var source = object{"type": "prometheus", "uid": "${datasource}"}

func (d dashboard) model() object {
	return object{
		"uid": "drover-" + d.name, "title": d.title, "description": d.about, "tags": []string{"drover"}, "schemaVersion": 39, "version": 1,
		"editable": true, "graphTooltip": 1, "refresh": "30s", "time": object{"from": "now-6h", "to": "now"}, "timezone": "",
		"links": []object{{"type": "dashboards", "title": "Drover", "tags": []string{"drover"}, "asDropdown": true, "includeVars": true,
			"keepTime": true}},
		"templating": object{"list": []object{
			{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
			{"name": "namespace", "label": "Namespace", "type": "query", "datasource": source, "refresh": 2, "multi": true,
				"includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"},
				"query": `label_values(leader_election_master_status{name=~"drover-.+"}, namespace)`},
		}},
		"panels": d.panels(),
	}
}

// panels places the rows below each other.
func (d dashboard) panels() []object {
	var out []object
	y := 0
	for _, r := range d.rows {
		out = append(out, object{"id": len(out) + 1, "type": "row", "title": r.title, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": 24, "h": 1}})
		y++
		x, height := 0, 0
		for _, p := range r.panels {
			if x+p.size.width > 24 || height > 0 && height != p.size.height {
				x, y = 0, y+height
			}
			height = p.size.height
			out = append(out, p.model(len(out)+1, object{"x": x, "y": y, "w": p.size.width, "h": p.size.height}))
			x += p.size.width
		}
		y += height
	}
	return out
}

func (p panel) model(id int, position object) object {
	var targets []object
	for i, q := range p.queries {
		targets = append(targets, object{"refId": string(rune('A' + i)), "datasource": source, "legendFormat": q.legend,
			"expr": strings.ReplaceAll(q.expr, "$ns", `namespace=~"$namespace"`)})
	}
	defaults := object{"unit": p.unit, "min": 0}
	options := object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"}}
	if p.size.kind == "stat" {
		options = object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "none", "textMode": "auto"}
		defaults = object{"unit": p.unit, "noValue": "0"}
	}
	return object{"id": id, "type": p.size.kind, "title": p.title, "description": p.about, "gridPos": position, "datasource": source,
		"fieldConfig": object{"defaults": defaults, "overrides": []object{}}, "options": options, "targets": targets}
}
