#!/bin/sh
# Starts a server in this directory, which ends with the workload.
set -eu
command -v redis-server >/dev/null || { echo "redis-server is missing on this system" >&2; exit 127; }
redis-server --port 0 --unixsocket redis.socket --save '' --appendonly no >server.log 2>&1 &
tries=0
until [ -S redis.socket ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat server.log >&2; exit 1; }
    sleep 0.1
done
