package command

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// The values of -o.
const (
	outputJSON = "json"
	outputYAML = "yaml"
	outputName = "name"
)

// Report is what a command found: a value that is printed for people, or marshalled for programs.
type Report interface {
	// Text writes it for people.
	Text(p *terminal.Printer)
	// Names returns its objects as <resource>.<group>/<name>.
	Names() []string
}

// checkOutput refuses an unknown -o before anything is asked.
func (f *Frame) checkOutput() error {
	switch f.Output {
	case "", outputJSON, outputYAML, outputName:
		return nil
	}
	return fmt.Errorf("-o %s is not known: use json, yaml or name, or leave it out", f.Output)
}

// print writes the report to Out as -o asks.
func (f *Frame) print(report Report) error {
	switch f.Output {
	case outputJSON:
		text, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(f.Streams.Out, "%s\n", text)
		}
		return err
	case outputYAML:
		text, err := yaml.Marshal(report)
		if err == nil {
			_, err = f.Streams.Out.Write(text)
		}
		return err
	case outputName:
		for _, name := range report.Names() {
			if _, err := fmt.Fprintln(f.Streams.Out, name); err != nil {
				return err
			}
		}
		return nil
	}
	printer := terminal.New(f.Streams.Out)
	report.Text(printer)
	return printer.Err()
}
