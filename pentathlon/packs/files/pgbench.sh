#!/bin/sh
# pgbench with the server that the setup has started.
set -eu
programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${programs:+$programs:}$PATH
only=
[ "$1" = --select-only=no ] || only=--select-only
shift
exec pgbench -h "$(cat socket)" -U bench --no-vacuum $only "$@" postgres
