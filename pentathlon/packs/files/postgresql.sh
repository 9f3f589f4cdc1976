#!/bin/sh
# Makes a database cluster in this directory and starts its server, which ends with the workload.
# The server listens on an abstract socket: the path of one in the file system could be too long.
set -eu
programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH=${programs:+$programs:}$PATH
command -v postgres >/dev/null || { echo "postgres is missing on this system" >&2; exit 127; }
socket=@pentathlon-$$
echo "$socket" >socket
mkdir data
if [ "$(id -u)" = 0 ]; then
    # PostgreSQL refuses root, and another user may not enter the directories above this one: in a
    # mount namespace of its own the cluster lies at /mnt.
    chown 65534:65534 data
    cat >start <<'END'
set -eu
mount --bind "$1" /mnt
exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "$2" sh /mnt "$3"
END
    set -- unshare --mount sh start "$PWD/data"
else
    set -- sh -c '"$0" -c "$2" sh "$1" "$3"' sh "$PWD/data"
fi
"$@" 'initdb -D "$1" -U bench -A trust --no-sync >/dev/null && exec postgres -D "$1" \
    -c listen_addresses= -c unix_socket_directories="$2" -c max_connections=20' "$socket" \
    >server.log 2>&1 &
tries=0
until pgbench -h "$socket" -U bench --initialize --quiet --scale=1 postgres >init.log 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || { cat server.log init.log >&2; exit 1; }
    sleep 0.2
done
