package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"text/tabwriter"
	"time"

	"drover.dev/drover/im-monitor/conformance/internal/checks"
	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
)

// run does what the flags report.
func run(ctx context.Context, o *options, out io.Writer) error {
	chosen, err := choose(o.pattern)
	if err != nil {
		return err
	}
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("--output is %q, neither text nor json", o.output)
	}
	if o.list {
		return list(out, chosen)
	}
	if o.id == "" {
		o.id = newID()
	}
	where, stop, err := connect(ctx, o)
	if err != nil {
		return err
	}
	results, servers, err := against(ctx, o, where, chosen, out)
	return finish(o, out, results, servers, errors.Join(err, stop()))
}

// choose are the checks whose ID matches.
func choose(pattern string) ([]suite.Check, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	var out []suite.Check
	for _, c := range checks.All() {
		if match.MatchString(c.ID) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no check matches %q: see --list", pattern)
	}
	return out, nil
}

func list(out io.Writer, chosen []suite.Check) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range chosen {
		fmt.Fprintf(table, "%s\t%s\n", c.ID, c.Name)
	}
	return table.Flush()
}

// newID is a short name for a run.
func newID() string {
	raw := make([]byte, 3)
	_, _ = rand.Read(raw)
	return hex.EncodeToString(raw)
}

// connect makes the target, and starts a simulator where one is asked for; stop ends both.
func connect(ctx context.Context, o *options) (where *target.Target, stop func() error, err error) {
	stop = func() error { return nil }
	if o.simulator != "" {
		s, err := startSimulator(ctx, o.simulator, o.simulatorArgs)
		if err != nil {
			return nil, nil, err
		}
		stop = s.stop
		if err := s.settle(ctx, o); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		defer func() {
			if where != nil {
				where.Lab, where.Content = s.control, target.SimulatorContent{Control: s.control}
			}
		}()
	}
	where, err = o.target(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	end := stop
	return where, func() error { return errors.Join(where.Close(), end()) }, nil
}

// against runs the checks; servers are the versions by data engine.
func against(ctx context.Context, o *options, where *target.Target, chosen []suite.Check, out io.Writer) ([]suite.Result,
	map[string]string, error) {
	servers, err := versions(ctx, where, o.record)
	if err != nil {
		return nil, nil, err
	}
	runner := suite.Runner{Target: where, Run: o.id, Limit: o.limit, Done: func(r suite.Result) {
		if o.output == "text" {
			suite.Line(out, r)
		}
	}}
	results, err := runner.All(ctx, chosen)
	return results, servers, err
}

// versions asks the managers for theirs. What the simulator passes is not recorded.
func versions(ctx context.Context, where *target.Target, record bool) (map[string]string, error) {
	out := map[string]string{}
	for _, m := range where.Managers() {
		v, err := m.Version(ctx)
		if err != nil {
			return nil, err
		}
		if record && target.Simulated(v) {
			return nil, fmt.Errorf("the instance manager %s is a simulator: --record is for runs against real instance managers", m.Host)
		}
		if out[m.Engine] == "" {
			out[m.Engine] = v.GetVersion()
		}
	}
	return out, nil
}

// finish writes the outcome, and the ledger where it is asked for.
func finish(o *options, out io.Writer, results []suite.Result, servers map[string]string, err error) error {
	if o.output == "json" && results != nil {
		err = errors.Join(err, suite.JSON(out, o.id, servers, results))
	} else if results != nil {
		err = errors.Join(err, suite.Summary(out, results))
	}
	if err != nil {
		return err
	}
	if o.output == "text" && o.dataPath != "" && o.simulator == "" && suite.Count(results, suite.Passed) > 0 {
		fmt.Fprintf(out, "The directories %s/%s* of the v1 nodes are left: no call of the API removes them.\n", o.dataPath,
			suite.Prefix(o.id))
	}
	if o.record {
		known, err := suite.ReadLedger(o.ledger)
		if err != nil {
			return err
		}
		if err := known.Record(checks.All(), results, servers, time.Now().UTC().Format(time.DateOnly)).Write(o.ledger); err != nil {
			return err
		}
	}
	if suite.Count(results, suite.Failed) > 0 {
		return errFailed
	}
	return nil
}

// pages writes what is generated from the checks; it runs in the directory of this package's sources.
func pages() error {
	ledger, err := suite.ReadLedger("ledger.yaml")
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	ledger = ledger.Complete(checks.All())
	page := suite.Page{Checks: checks.All(), RealOnly: checks.RealOnly(), Ledger: ledger}
	return errors.Join(ledger.Write("ledger.yaml"), suite.Replace("README.md", page.List()),
		suite.Replace("../simulator/README.md", page.Behaviour()))
}
