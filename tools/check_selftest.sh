#!/usr/bin/env bash
# Tests tools/check.sh: adds one drift of each kind to a copy of the committed tree, expects the check to fail, runs the command that
# the check prints, and expects it to pass.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy" "$copy.out"' EXIT
git archive HEAD | tar -xf - -C "$copy"
cd "$copy"
save() { git add -A && git -c user.name=check -c user.email=check@localhost commit -q --allow-empty -m "$1"; }
git init -q
save committed

check() { tools/check.sh "$1" >"$copy.out" 2>&1; }
fix() {
  fix=$(sed -n 's/^  fix it with: //p' "$copy.out")
  $fix >"$copy.out" 2>&1 || { cat "$copy.out" >&2; exit 1; }
}

# prove KIND COMMAND: the command causes the drift.
prove() {
  git checkout -q . && git clean -fdq
  check "$1" || { fix && save "what had drifted already"; }
  eval "$2"
  ! check "$1" || { echo "$1 passes with this drift: $2" >&2; exit 1; }
  fix
  check "$1" || { cat "$copy.out" >&2; echo "$1 still drifts after: $fix" >&2; exit 1; }
  printf '%-13s fails with a drift, passes after: %s\n' "$1" "$fix"
}

prove go-format 'printf "\nfunc  drift() {}\n" >>shared/conditions/conditions.go'
prove generated 'sed -i "\$d" attach-controller/deploy/role.yaml crds/longhorn.io_volumes.yaml'
prove dashboards 'sed -i "s/Leaders/Leader/" docs/dashboards/drover.json'
prove go-mod 'sed -i "s#^\(\tpgregory.net/rapid v[^ ]*\)\$#\1 // indirect#" go.mod'
prove build-files 'printf "package conditions\n" >shared/conditions/drift.go && rm e2e/record/BUILD.bazel'
prove build-format 'sed -i "s/^    name/  name/" crds/BUILD.bazel && sed -i "s/^bazel_dep(/bazel_dep( /" MODULE.bazel'
prove use-repo 'sed -i "/io_k8s_klog_v2/d" MODULE.bazel'
