#!/usr/bin/env bash
# Fails on any drift and prints the command that fixes it: runs each fixing command on a copy of the tree and checks
# what it changed. `tools/check.sh build-files use-repo` checks those two kinds only.
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A fix=(
  [go-format]="gofmt -w ."
  [generated]="make manifests"
  [dashboards]="make dashboards"
  [charts]="make charts"
  [go-mod]="make modules"
  [build-files]="make build-files"
  [build-format]="make build-format"
  [use-repo]="tools/use_repo.sh"
)
declare -A what=(
  [go-format]="Go files are not formatted"
  [generated]="generated code, definitions, pages or roles are stale"
  [dashboards]="the dashboards are not what tools/monitoring writes"
  [charts]="the manifests in deploy are not what the charts render"
  [go-mod]="go.mod or go.sum is not tidy"
  [build-files]="BUILD files are not what gazelle writes"
  [build-format]="BUILD files, MODULE.bazel or .bzl files are not formatted"
  [use-repo]="the use_repo list of MODULE.bazel is not what BUILD files name"
)
kinds=("$@")
[ $# -gt 0 ] || kinds=(go-format generated dashboards charts go-mod build-files build-format use-repo) # later ones build on earlier ones

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | { xargs -0 ls -d 2>/dev/null || true; } | tar -cf - -T - | tar -xf - -C "$copy"
inside() { git -C "$copy" -c user.name=check -c user.email=check@localhost "$@"; }
inside init -q
inside add -A
inside commit -q -m before

failed=0
for kind in "${kinds[@]}"; do
  (cd "$copy" && ${fix[$kind]}) >"$copy.log" 2>&1 || { cat "$copy.log" >&2; echo "check: ${fix[$kind]} failed" >&2; failed=1; }
  changed=$(inside status --porcelain | cut -c4- | tr '\n' ' ')
  if [ -n "$changed" ]; then
    printf 'check: %s: %s\n  fix it with: %s\n' "${what[$kind]}" "$changed" "${fix[$kind]}" >&2
    inside add -A
    inside commit -q -m "$kind"
    failed=1
  fi
done
rm -f "$copy.log"
exit "$failed"
