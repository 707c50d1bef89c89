#!/usr/bin/env bash
# Holds tests/ahead.sh to what it says: what is played ahead is told in its turn, whole, or it is a failure; and none of it is left behind.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source tests/ahead.sh

run=$(mktemp -d)
said=$run
trap 'stop_what_is_ahead; rm -rf "$run"' EXIT
mkfifo "$run/gate"
minutes() { echo "$1 s"; }
check() { if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1"; return 1; fi; }

expect() {
  if [ "$2" != "$3" ]; then
    printf '%s: expected\n%s\nnot\n%s\n' "$1" "$2" "$3"
    exit 1
  fi
}

group_first() { read -r _ <"$run/gate"; echo "says first"; echo first >>"$said/journal"; echo first >>"$run/order"; }
group_second() { echo "says second"; echo second >>"$said/journal"; echo second >>"$run/order"; }
group_endless() { echo "says something"; sleep infinity & echo $! >"$run/child"; wait; }
group_now() { echo "says now"; echo now >>"$said/journal"; }

play_ahead first
play_ahead second
expect "a group that was not begun is played" "says now" "$(play now)"
expect "nothing is counted before its turn" "now" "$(cat "$run/journal")"
echo >"$run/gate"
expect "the second is told whole" "says second ok: group second came to its end" "$(play second | head -n 2 | xargs)"
expect "one after another" "first second" "$(xargs <"$run/order")"
expect "the first, too" "says first ok: group first came to its end" "$(play first | head -n 2 | xargs)"
expect "all is counted" "now second first" "$(xargs <"$run/journal")"

is_there() { [ -s "$run/child" ]; }
until_true() { for _ in $(seq 600); do "$@" && return; sleep 0.05; done; echo "never: $*"; exit 1; }
is_over() { [ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

play_ahead endless
until_true is_there
child=$(cat "$run/child")
stop_what_is_ahead
until_true is_over "$child"
expect "what was stopped is a failure" "FAILED: group endless came to its end" "$(play endless 2>&1 | tail -n 1)"
