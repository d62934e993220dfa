# cluster.sh: a private temporary PostgreSQL server that has kernelml, for demo and tests.
# Source it after lib.sh.
#
#   cluster_tree     $CLUSTER, a temporary folder, with a copy of the server's files in which
#                    kernelml is installed ($CLUSTER_BIN: its programs); nothing is written
#                    outside of that folder
#   cluster_start    a server from that copy; sets PGHOST, PGPORT, PGUSER, PGDATABASE
#
# The folder and the server end with the script; KEEP=1 leaves them and says how to connect.
# PostgreSQL refuses to run as root, so then the server runs as the user postgres.  It listens
# on nothing but a socket in a folder that only that user (and root) can enter.

as_server_user() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

# private_folder NAME: $CLUSTER/NAME, for the server's user alone.
private_folder() {
    mkdir -m 700 "$CLUSTER/$1"
    [ "$(id -u)" -ne 0 ] || chown postgres "$CLUSTER/$1"
}

# Libraries that a server outside of the system's folders brings along (relocatable builds
# find them relative to the program, and the program is a copy here).
bundled_libraries() {
    ldd "$@" 2>/dev/null | awk '$3 ~ /^\// { sub("/[^/]*$", "", $3); print $3 }' | sort -u |
        grep -vE '^(/usr)?/lib' | paste -sd: || true
}

# A server finds its library and share folders relative to where its program really is, so
# programs are copied, keeping their places, and the rest are links.
cluster_tree() {
    local bin folder
    bin=$("$PG_CONFIG" --bindir)
    umask 022
    CLUSTER=$(mktemp -d "${TMPDIR:-/tmp}/kernelml.XXXXXX")
    CLUSTER_BIN=$CLUSTER/tree$bin
    trap cluster_end EXIT
    trap 'exit 130' INT TERM
    chmod 711 "$CLUSTER"
    build all
    build install DESTDIR="$CLUSTER/tree" > "$CLUSTER/install.log"

    mkdir -p "$CLUSTER_BIN"
    cp -L "$bin"/* "$CLUSTER_BIN"
    for folder in "$("$PG_CONFIG" --pkglibdir)" "$("$PG_CONFIG" --sharedir)"; do
        cp -rsn "$folder/." "$CLUSTER/tree$folder/"
    done
    export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:$(bundled_libraries "$bin"/*)
    cp -L "$(working_program "$bin/psql" /usr/lib/postgresql/*/bin/psql)" "$CLUSTER_BIN/psql"
}

cluster_start() {
    local data=$CLUSTER/server/data
    private_folder server
    export PGHOST=$CLUSTER/server PGPORT=$((20000 + RANDOM)) PGUSER=postgres PGDATABASE=postgres
    unset PGPASSWORD PGSERVICE PGOPTIONS
    as_server_user "$CLUSTER_BIN/initdb" -D "$data" -U postgres -A trust -E UTF8 --no-locale -N \
        > "$CLUSTER/initdb.log" || die "initdb failed"
    as_server_user tee -a "$data/postgresql.conf" > "$CLUSTER/settings.log" <<-SETTINGS
	listen_addresses = ''
	unix_socket_directories = '$PGHOST'
	port = $PGPORT
	fsync = off
	SETTINGS
    as_server_user "$CLUSTER_BIN/pg_ctl" -D "$data" -l "$data/log" -w start > "$CLUSTER/start.log" ||
        { tail -20 "$data/log"; die "the server does not start"; }
}

cluster_end() {
    local status=$? data=$CLUSTER/server/data
    local stop=("$CLUSTER_BIN/pg_ctl" -D "$data" -m fast stop)
    trap - EXIT
    if [ -n "${KEEP:-}" ] && [ -e "$data/postmaster.pid" ]; then
        printf '\nThe server is still up.  Connect:\n    psql -h %s -p %s -U postgres\nEnd it:\n    ' \
            "$PGHOST" "$PGPORT"
        [ "$(id -u)" -ne 0 ] || printf 'runuser -u postgres -- '
        printf '%s; rm -rf %s\n' "${stop[*]}" "$CLUSTER"
    else
        [ ! -e "$data/postmaster.pid" ] || as_server_user "${stop[@]}" > "$CLUSTER/stop.log"
        rm -rf "$CLUSTER"
    fi
    exit "$status"
}

# working_program CANDIDATE…: the first that runs.  Some builds of PostgreSQL leave out or break
# psql and the test programs; those of another one serve as well.
working_program() {
    local candidate
    for candidate in "$@"; do
        ! "$candidate" --version > /dev/null 2>&1 || { realpath "$candidate"; return; }
    done
    echo "none of these runs: $*" >&2
    return 1
}

# regress_program PROGRAM KIND: pg_regress, or pg_isolation_regress of the kind isolation
regress_program() {
    working_program "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/$2/$1" \
        /usr/lib/postgresql/*/lib/pgxs/src/test/"$2/$1"
}

# run_regress PROGRAM KIND TEST…: pg_regress or pg_isolation_regress against the server.  It
# works in the private folder, because it writes beside its input.
run_regress() {
    local program kind=$2 log=$CLUSTER/$2.out status=0 product
    program=$(regress_program "$1" "$kind") || { tally 0 1; return; }
    shift 2
    mkdir "$CLUSTER/$kind"
    ln -s "$PWD/test" "$PWD/expected" "$CLUSTER/$kind"
    (cd "$CLUSTER/$kind" && "$program" --inputdir=test --bindir="$CLUSTER_BIN" \
        --host="$PGHOST" --port="$PGPORT" --user=postgres --load-extension=kernelml \
        --dbname="kernelml_$kind" "$@") 2>&1 | tee "$log" || status=1
    for product in results output_iso/results regression.diffs; do
        [ ! -e "$CLUSTER/$kind/$product" ] || cp -r "$CLUSTER/$kind/$product" "$BUILD"
    done
    [ "$status" -eq 0 ] || cat "$CLUSTER/$kind"/{,output_iso/}regression.diffs 2>/dev/null || true
    tally_log "$log" "$status" '^ok |^test .* ok  ' '^not ok |^test .*FAILED'
}
