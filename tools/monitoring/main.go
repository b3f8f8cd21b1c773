// Command monitoring writes the dashboards for Grafana, one of each controller and one of the whole system.
//
//	monitoring ../../docs/dashboards
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "monitoring:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("the argument is the directory of the dashboards")
	}
	for _, d := range dashboards() {
		text, err := encode(d)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(args[0], d.name+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// encode returns the JSON of a dashboard as Grafana imports it.
func encode(d dashboard) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(d.model())
	return text.Bytes(), err
}
