#!/bin/sh
# Shows each profile of a directory: as a text, and as a drawing where graphviz is installed.
set -eu
for profile in "$1"/*.pb.gz; do
	${GO:-go} tool pprof -top -nodecount=60 "$profile" >"${profile%.pb.gz}.txt" 2>/dev/null
	if command -v dot >/dev/null; then
		${GO:-go} tool pprof -svg "$profile" >"${profile%.pb.gz}.svg" 2>/dev/null
	fi
done
ls "$1"
