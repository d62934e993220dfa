# lib.sh: what the scripts of this folder share.  Source it first.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
BUILD=${BUILD:-build}
export BUILD PG_CONFIG=${PG_CONFIG:-pg_config}
mkdir -p "$BUILD"
SCRIPT=$(basename "$0")

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "$SCRIPT" "$*" >&2; exit 1; }

# chosen FOLDER PREFIX SUFFIX NAME…: sets tests to the names given, else to every NAME of which
# FOLDER has a PREFIX-NAME-SUFFIX file.  Ends the script when there is none.
chosen() {
    local folder=$1 prefix=$2 suffix=$3 file
    shift 3
    tests=("$@")
    [ $# -gt 0 ] || for file in "$folder/$prefix"*"$suffix"; do
        file=${file#"$folder/$prefix"}
        [ "$file" = "*$suffix" ] || tests+=("${file%"$suffix"}")
    done
    [ ${#tests[@]} -gt 0 ] || { tally 0 0; exit; }
}

# make, one at a time in a build folder.
build() { flock "$BUILD/lock" make --no-print-directory -s -j"$(nproc)" "$@"; }

# tally PASSED FAILED: the last line of a test script, and its exit status.  scripts/check
# adds up what the scripts leave in $TALLY.
tally() {
    printf '%s: %d passed, %d failed\n' "$SCRIPT" "$1" "$2"
    [ -z "${TALLY:-}" ] || printf '%d %d\n' "$1" "$2" >> "$TALLY"
    [ "$2" -eq 0 ]
}

# tally_log LOG STATUS OK BAD: count lines of a log that match the two patterns.  A run that
# ended badly without naming a failure is one.
tally_log() {
    local passed failed
    passed=$(grep -cE "$3" "$1" || true)
    failed=$(grep -cE "$4" "$1" || true)
    [ "$2" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    tally "$passed" "$failed"
}
