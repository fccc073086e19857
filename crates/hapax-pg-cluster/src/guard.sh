# The parent of one cluster's server. It does what the lines of its input say, one answer each, and when the input
# ends, because the process at the other end did, it ends the server and removes the folder.
#
# usage: sh -c "$(cat guard.sh)" guard FOLDER BIN [PREFIX...], where PREFIX makes a command run as the server's user

folder=$1
bin=$2
shift 2

data=$folder/data
log=$folder/log
lock=$data/postmaster.pid
server=

# Hundredths of a second.
patience=6000

# An answer that nobody reads must not end the guard ahead of its server.
trap '' PIPE

# A server that was killed leaves its lock file behind, hence the look at the number.
# One that follows another calls itself a standby.
is_ready() {
    [ "$(sed -n 1p "$lock" 2>/dev/null)" = "$server" ] && grep -q -e '^ready' -e '^standby' "$lock"
}

await_ready() {
    waited=0
    until is_ready; do
        kill -0 "$server" 2>/dev/null && [ "$waited" -lt "$patience" ] || return 1
        waited=$((waited + 1))
        sleep 0.01
    done
}

# A frozen server would not hear the signal.
stop() {
    [ -n "$server" ] || return 0
    kill -QUIT "$server" 2>/dev/null
    kill -CONT "$server" 2>/dev/null
    wait "$server"
    server=
}

# The postmaster is frozen first, so that it starts no more children while they are counted.
kill_all() {
    [ -n "$server" ] || return 0
    kill -STOP "$server" 2>/dev/null
    children=$(cat "/proc/$server/task/$server/children" 2>/dev/null)
    kill -KILL "$server" $children 2>/dev/null
    wait "$server"
    server=
    for child in $children; do
        await_death "$child"
    done
}

# A server does not start while a process of the one before it still has its memory.
await_death() {
    waited=0
    while grep -q '^State:[[:space:]]*[^[:space:]ZX]' "/proc/$1/status" 2>/dev/null && [ "$waited" -lt "$patience" ]; do
        waited=$((waited + 1))
        sleep 0.01
    done
}

# A killed server leaves a segment of shared memory behind, and its number in the lock file.
remove_segment() {
    segment=$(sed -n '7{s/.* //;p;}' "$lock" 2>/dev/null)
    [ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
}

while read -r word primary; do
    case $word in
    init)
        "$@" "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --no-locale --no-sync \
            </dev/null >>"$log" 2>&1 && echo done || echo failed
        ;;
    copy)
        stop
        remove_segment
        rm -rf -- "$data"
        "$@" "$bin/pg_basebackup" -h "$primary" -U postgres -D "$data" -R -X stream -c fast --no-sync \
            </dev/null >>"$log" 2>&1 && echo done || echo failed
        ;;
    start)
        stop
        "$@" "$bin/postgres" -D "$data" </dev/null >>"$log" 2>&1 &
        server=$!
        if await_ready; then
            echo "$server"
        else
            stop
            echo failed
        fi
        ;;
    stop) stop && echo done ;;
    kill) kill_all && echo done ;;
    esac
done

stop
remove_segment
rm -rf -- "$folder"
