#!/bin/sh
# pgbench with the server that the setup has started.
set -eu
programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${programs:+$programs:}$PATH
exec pgbench -h "$(cat socket)" -U bench --no-vacuum "$@" postgres
