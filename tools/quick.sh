#!/usr/bin/env bash
# Tests everything that needs no control plane, the models with few worlds, and one volume's lifecycle with real processes.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}

# Packages with tests that import no package that starts a server. The model of the protocol (e2e/model) and the build of the
# control plane (e2e/cluster) take a minute alone.
pure=$($go list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
  awk '/ testing( |$)/ && !/testkit|shelltest|e2e\/world|e2e\/harness/ && $1 !~ /e2e\/(model|cluster)$/ {print $1}')
lifecycle=$(mktemp)
trap 'rm -f "$lifecycle"' EXIT
$go test ./e2e/attach -run 'TestScenarios/A1 ' >"$lifecycle" 2>&1 & # it waits more than it works
passed=0
# -short is for the models alone: a property that draws a fifth may not meet what it is about.
# shellcheck disable=SC2046 # lists of packages
$go test $(grep -v '/model$' <<<"$pure") || passed=$?
# shellcheck disable=SC2046
$go test -short $(grep '/model$' <<<"$pure") || passed=$?
wait $! || passed=$?
cat "$lifecycle"
exit "$passed"
