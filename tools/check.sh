#!/usr/bin/env bash
# Fails on anything that drifted, and says how to mend it.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
fail() { printf 'check: %s\n  mend it with: %s\n' "$1" "$2" >&2; failed=1; }

unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || fail "not formatted: $unformatted" "gofmt -w $(echo $unformatted)"

before=$(git status --porcelain)
make --no-print-directory generate >/dev/null
go mod tidy
after=$(git status --porcelain)
[ "$before" = "$after" ] || fail "generated files or go.mod were not fresh: $(git status --porcelain | tr '\n' ' ')" "make generate && go mod tidy, then commit"

go vet ./... || fail "go vet found something" "go vet ./..."
[ "$failed" = 0 ] || exit 1
make --no-print-directory test
