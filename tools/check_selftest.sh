#!/usr/bin/env bash
# Proves tools/check.sh: plants one drift of each kind in a copy of what is committed, sees the check fail, runs the command that
# it names, and sees it pass.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy" "$copy.said"' EXIT
git archive HEAD | tar -xf - -C "$copy"
cd "$copy"
save() { git add -A && git -c user.name=check -c user.email=check@localhost commit -q --allow-empty -m "$1"; }
git init -q
save committed

check() { tools/check.sh "$1" >"$copy.said" 2>&1; }
mend() {
  mend=$(sed -n 's/^  mend it with: //p' "$copy.said")
  $mend >"$copy.said" 2>&1 || { cat "$copy.said" >&2; exit 1; }
}

# prove KIND PLANT: the plant is the drift.
prove() {
  git checkout -q . && git clean -fdq
  check "$1" || { mend && save "what had drifted already"; }
  eval "$2"
  ! check "$1" || { echo "$1 passes with a drift planted: $2" >&2; exit 1; }
  mend
  check "$1" || { cat "$copy.said" >&2; echo "$1 still drifts after: $mend" >&2; exit 1; }
  printf '%-13s fails after a planted drift, passes after: %s\n' "$1" "$mend"
}

prove go-format 'printf "\nfunc  drift() {}\n" >>shared/conditions/conditions.go'
prove generated 'sed -i "\$d" attach-controller/deploy/role.yaml crds/longhorn.io_volumes.yaml'
prove go-mod 'sed -i "s#^\(\tpgregory.net/rapid v[^ ]*\)\$#\1 // indirect#" go.mod'
prove build-files 'printf "package conditions\n" >shared/conditions/drift.go && rm e2e/record/BUILD.bazel'
prove build-format 'sed -i "s/^    name/  name/" crds/BUILD.bazel && sed -i "s/^bazel_dep(/bazel_dep( /" MODULE.bazel'
prove use-repo 'sed -i "/io_k8s_klog_v2/d" MODULE.bazel'
