#!/usr/bin/env bash
# Side-by-side CPU per request against other proxies, in one run: compare.sh PATH-OF-BENCH.PY [ITS OPTIONS...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bench=${1:?the path of bench.py}
shift
reprise=$here/../../build/release/reprise
[ -x "$reprise" ] || { echo "build it first: cmake --preset release && cmake --build --preset release" >&2; exit 2; }
exec python3 "$bench" --peers haproxy,nginx,dumbpipe --scenarios get_c64,post_c64,hdr20_c64 --rounds 5 \
  --proxy "reprise=env REPRISE_BENCH_PORT={port} $reprise run -c $here/reprise.yaml,auto,forward" "$@"
