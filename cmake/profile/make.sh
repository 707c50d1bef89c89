#!/usr/bin/env bash
# Makes a new profile of the shipped program: runs the benchmark with a build that counts. Takes a quarter of an hour on two cores.
#
#   bash cmake/profile/make.sh
#
# Needs wrk, haproxy and nginx-light besides the build packages, and root, because TLS is intercepted in a network namespace.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$PWD/build/profile
program=$build/reprise

cmake --preset profile
cmake --build --preset profile --target reprise
rm -rf "$build/counts"
python3 tests/bench/bench.py --bin "$program" --peers '' --baseline reprise --rounds 1 --secs 1 --tries 1 \
  --scenarios get_c1,get_c64,post_c64,hdr20_c64,get10k_c64,get1m_c8,flaky_c64,post_flaky_c64,down64m_c4,up64m_c4,lat
python3 tests/bench/bench.py --bin "$program" --logged --peers '' --baseline reprise --rounds 1 --secs 2 --tries 1 --scenarios get_c64,post_c64,hdr20_c64
python3 tests/bench/tls.py --reprise "$program" --rounds 1 --seconds 1
unshare -n python3 tests/bench/tls.py --reprise "$program" --intercept --rounds 1 --seconds 1

# Reproducible: file names without this build's folder, sorted, with fixed times.
prefix=$(tr / '#' <<<"$build/")
cd "$build/counts"
for file in *.gcda; do mv "$file" "${file#"$prefix"}"; done
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cJf "$OLDPWD/cmake/profile/release.tar.xz" -- *.gcda
LC_ALL=C bash -c 'sha256sum *.gcda' | sha256sum | cut -d" " -f1 >"$OLDPWD/cmake/profile/sum"
g++ -dumpversion | cut -d. -f1 >"$OLDPWD/cmake/profile/compiler"
ls -l "$OLDPWD/cmake/profile/release.tar.xz"
