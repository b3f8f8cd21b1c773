#!/usr/bin/env bash
# What CI runs under Bazel: everything is built, and each test that starts no control plane runs. Those that do have just
# run under go test; `make bazel-test` runs them, too. Where Bazel is not available (no mirror, no namespaces, a full disk), or is
# not done within $BAZEL_CI_SECONDS (1200 by default), this script skips it, prints that, and succeeds.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${BAZEL_CI_SECONDS:-1200}
skip() { echo "ci: $1; the Bazel build is skipped" >&2; exit 0; }

home=${BAZEL_HOME:-$HOME/.cache/drover-bazel}
mkdir -p "$home"
[ "$seconds" -ge 300 ] || skip "only $seconds seconds are left"
[ "$(df --output=avail -k "$home" | tail -1)" -gt $((10 * 1024 * 1024)) ] || skip "less than 10 GiB are free"
for try in 1 2 3; do
  timeout 300 tools/bazel/install.sh && break
  [ "$try" != 3 ] || skip "Bazel could not be installed"
  sleep $((try * 10))
done
tools/bazel/bazel info release || skip "Bazel does not run here"
left=$((seconds - SECONDS)) code=0
[ "$left" -ge 60 ] || skip "installing Bazel took too long"
timeout --signal=INT --kill-after=60 "$left" \
  tools/bazel/bazel test //... --test_size_filters=small,medium --curses=no --show_progress_rate_limit=30 || code=$?
tools/bazel/bazel shutdown || true
case $code in
  0) ;;
  1 | 3 | 4) exit "$code" ;; # the build or a test failed, or there was none
  *) skip "Bazel ended with code $code" ;;
esac
