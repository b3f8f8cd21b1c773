// The kubectl-drover shows what Drover's controllers know, decide and wait for, and does what an operator does by hand: `kubectl drover`.
// It talks to the API server alone.
package main

import (
	"context"
	_ "embed"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"drover.dev/drover/kubectl-drover/internal/command"
)

//go:embed VERSION
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	code := command.Run(ctx, version, streams, os.Args[1:])
	stop()
	os.Exit(code)
}
