#!/bin/sh
# Writes MODULE.bazel's list of Go repositories: those that BUILD files name, no more and no fewer.
set -eu
cd "$(dirname "$0")/.."
named=$(find . -name BUILD.bazel -exec grep -ho '"@[a-z0-9_]*//' {} + | tr -d '"@/' | sort -u |
  grep -vx -e rules_go -e gazelle -e controlplane | sed 's/.*/    "&",/')
NAMED=$named awk '
  skipping && /^\)/ { skipping = 0 }
  !skipping { print }
  /^    go_deps,$/ { print ENVIRON["NAMED"]; skipping = 1 }
' MODULE.bazel >MODULE.bazel.new
cmp -s MODULE.bazel.new MODULE.bazel && rm MODULE.bazel.new || mv MODULE.bazel.new MODULE.bazel
