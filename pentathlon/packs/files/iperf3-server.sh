#!/bin/sh
# Starts a server on the loopback interface, which ends with the workload.
set -eu
command -v iperf3 >/dev/null || { echo "iperf3 is missing on this system" >&2; exit 127; }
ip link set lo up 2>/dev/null || true
iperf3 -s --forceflush -B 127.0.0.1 -p 5299 >server.log 2>&1 &
tries=0
until grep -q "Server listening" server.log; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat server.log >&2; exit 1; }
    sleep 0.1
done
