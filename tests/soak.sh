#!/usr/bin/env bash
# Runs reprise for minutes between hundreds of clients and an upstream that fails in every way. Then compares the counts of both sides: see
# tests/README.md.
#
#   bash tests/soak.sh [MINUTES]               the default is 2
#   bash tests/soak.sh --seed N [MINUTES]      repeats a run
#   bash tests/soak.sh --lost-posts 10000      only POSTs that take effect but whose response is lost
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minutes=2
seed=$((RANDOM * 32768 + RANDOM))
figures=soak
arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --seed) seed=$2; shift 2 ;;
    --lost-posts) arguments+=(--lost-posts "$2"); figures=lost_posts; shift 2 ;;
    --rate | --clients) arguments+=("$1" "$2"); shift 2 ;;
    *) minutes=$1; shift ;;
  esac
done
reprise=${REPRISE_BIN:-build/release/reprise}
soak=build/release/tests/soak/reprise_soak
for program in "$reprise" "$soak"; do
  [ -x "$program" ] || { echo "$program does not exist: run cmake --build build/release" >&2; exit 2; }
done

folder=$(mktemp -d)
pid=
clean_up() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT
mkdir -p build/figures
ulimit -n "$(ulimit -Hn)"

# Limits that are reached within minutes, but not if the machine stalls for a second or two.
cat >"$folder/reprise.yaml" <<'YAML'
version: 1
listeners: [{mode: forward, bind: "127.0.0.1:0"}]
admin: {bind: "127.0.0.1:0"}
threads: 2
defaults:
  retry: {attempt_timeout: 10s, backoff: {initial: 5ms, maximum: 50ms}}
  response_timeout: 20s
  budget: off
  replay: {memory: 16KiB, disk: 128KiB}
  attempt_header: true
routes:
  - name: keyed
    match: {path: "/keyed/**"}
    idempotent: {any: [{header: Idempotency-Key}]}
  - name: held
    match: {path: "/held/**"}
    hold: {bytes: 16KiB}
    retry: {on: [5xx, 429, connect, reset, timeout, truncated]}
  - name: flapping
    match: {path: "/flapping/**"}
    budget: {ratio: 20%, floor: 10/s}
security: {connect_ports: ["1024-65535"]}
pool: {idle_timeout: 2s}
timers: {keep_alive: 30m}
log: {access: false, format: json}
YAML

"$reprise" run -c "$folder/reprise.yaml" 2>"$folder/log" &
pid=$!
for _ in $(seq 600); do
  grep -q '"ready"' "$folder/log" && break
  kill -0 "$pid" 2>/dev/null || { cat "$folder/log"; exit 1; }
  sleep 0.1
done
port_of() { sed -nE "s/.*listening $1 [0-9.]+:([0-9]+).*/\1/p" "$folder/log"; }

echo "seed $seed"
status=0
"$soak" --forward "$(port_of forward)" --admin "$(port_of admin)" --pid "$pid" --seed "$seed" --minutes "$minutes" \
  --figures "build/figures/$figures.json" "${arguments[@]}" || status=$?
kill -TERM "$pid"
ended=0
wait "$pid" || ended=$?
pid=
if [ "$ended" -ne 0 ]; then
  tail -n 30 "$folder/log"
  echo "reprise ended with $ended"
  status=1
fi
if [ "$status" -ne 0 ]; then
  grep -v '"level":"error"' "$folder/log" | tail -n 5
  echo "again: bash tests/soak.sh --seed $seed ${arguments[*]} $minutes"
fi
exit "$status"
