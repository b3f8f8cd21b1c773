#!/usr/bin/env bash
# Checks that each binary can be rolled out alone: builds all in two directories, compares them bit by bit, and then
# changes one controller after the other in the second directory, where only its own binary may change.
set -euo pipefail
cd "$(dirname "$0")/../.."
bazel=${BAZEL:-tools/bazel/bazel}
read -ra flags <<<"${BAZEL_FLAGS:-}"
controllers=(api-gateway attach-controller disk-controller im-monitor orphan-controller snapshot-controller upgrade-controller)
binaries=("${controllers[@]}" im-monitor/simulator)
copy=${TMPDIR:-/tmp}/drover-digests-$(id -u)
failed=0

build() {
  (cd "$1" && "$bazel" build --curses=no --show_progress_rate_limit=30 --ui_event_filters=-info,-warning \
    "${flags[@]}" "${binaries[@]/#///}" >&2)
}
binary() { echo "$1/bazel-bin/$2/$(basename "$2")_/$(basename "$2")"; }
digest() { sha256sum "$(binary "$1" "$2")" | cut -c1-12; }
wrong() { echo "digests: $1" >&2; failed=1; }
row() { printf '%-34s' "$1"; shift; printf ' %-20s' "$@"; echo; }

# digests DIRECTORY CHANGED: the digests of all binaries there, marked where they differ from `first`.
digests() {
  local marked=() i
  for i in "${!binaries[@]}"; do
    local now; now=$(digest "$1" "${binaries[$i]}")
    [ "$now" = "${first[$i]}" ] || now="$now changed"
    marked+=("$now")
    if [ "${binaries[$i]}" = "$2" ]; then
      [[ $now = *changed ]] || wrong "$2 changed, its binary did not"
    else
      [[ $now != *changed ]] || wrong "${binaries[$i]} changed with ${2:-the directory that it was built in}"
    fi
  done
  row "$3" "${marked[@]}"
}

rm -rf "$copy"; mkdir -p "$copy"
trap 'rm -rf "$copy"' EXIT
git ls-files -z | { xargs -0 ls -d 2>/dev/null || true; } | tar -cf - -T - | tar -xf - -C "$copy"

echo "building all binaries from nothing in $copy, and here"
build "$copy"
build .
row "" "${binaries[@]}"
first=(); versions=()
for name in "${binaries[@]}"; do
  first+=("$(digest . "$name")")
  versions+=("$("$(binary . "$name")" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+\.[0-9]+[^ ]*' | head -n 1 || true)")
  ldd "$(binary . "$name")" >/dev/null 2>&1 && wrong "$name is linked dynamically"
done
row "version" "${versions[@]}"
row "here" "${first[@]}"
digests "$copy" "" "in another directory"
for name in "${controllers[@]}"; do
  cp "$copy/$name/VERSION" "$copy/kept"; echo 99.0.0 >"$copy/$name/VERSION"
  build "$copy"; digests "$copy" "$name" "VERSION of $name"
  mv "$copy/kept" "$copy/$name/VERSION"
  cp "$copy/$name/main.go" "$copy/kept"; printf '\nfunc init() { print() }\n' >>"$copy/$name/main.go"
  build "$copy"; digests "$copy" "$name" "code of $name"
  mv "$copy/kept" "$copy/$name/main.go"
done
(cd "$copy" && "$bazel" shutdown)
[ "$failed" = 0 ] && echo "each binary is static, the same wherever it is built, and changes only with its own sources"
exit "$failed"
