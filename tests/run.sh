#!/usr/bin/env bash
# Installs packages, builds, and runs the tests. The last line is the sum: `N passed, N failed, N skipped`.
#
#   bash tests/run.sh               the gate: everything that must pass before a change lands; the same on every machine
#   bash tests/run.sh night         all other tests, with fresh seeds; a flaky test counts as failed
#   bash tests/run.sh GROUP...      only these groups of the gate or the night
#
# REPRISE_BASE=COMMIT: the commit with which group `files` compares; the default is the newest one that is more than 24 hours old.
# tests/README.md says what each group tests.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source deploy/packages.sh

gate=(structure build_check build_asan files unit stories fuzz e2e docs)
night=(release hardening e2e_release browser interop package releases cluster image_rules soak cost stories_night fuzz_night e2e_asan tsan coverage files_night mutants)

usage() {
  sed -n 's/^#   //p' "${BASH_SOURCE[0]}"
  echo "groups of the gate:  ${gate[*]}"
  echo "groups of the night: ${night[*]}"
}

is_night=false
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "") groups=("${gate[@]}") ;;
  night) is_night=true; groups=("${night[@]}"); shift ;;
  *) groups=("$@") ;;
esac
[ "${groups[*]}" = "${night[*]}" ] && [ $# -gt 0 ] && { usage >&2; exit 2; }
for group in "${groups[@]}"; do
  [[ " ${gate[*]} ${night[*]} " == *" $group "* ]] || { echo "tests/run.sh: no group or option '$group'" >&2; usage >&2; exit 2; }
  [[ " ${night[*]} " != *" $group "* ]] || is_night=true
done
! $is_night || export REPRISE_NIGHT=1

jobs=$(nproc)
# All files outside build/ are in this folder. Its mode lets the other users write that some cases run as. Folders of killed runs are
# removed.
for folder in /tmp/reprise-tests.*; do [ ! -d "$folder" ] || kill -0 "${folder##*.}" 2>/dev/null || rm -rf "$folder"; done
export TMPDIR=/tmp/reprise-tests.$$
results=$TMPDIR/results
mkdir -m 1777 "$TMPDIR" && mkdir "$results" || exit 1
seed=$((RANDOM * 32768 + RANDOM + 1))   # of the night; the gate has fixed seeds
times=()

# Prints the descendants of a process, children before their parents.
descendants() {
  local child
  for child in $(pgrep -P "$1"); do descendants "$child"; echo "$child"; done
}

# Ends all processes of this run, also after a signal, and removes its files. Kills processes that do not end within ten seconds.
clean_up() {
  trap - EXIT INT TERM HUP
  local left _
  mapfile -t left < <(descendants $$)
  kill -TERM "${left[@]}" 2>/dev/null
  for _ in {1..100}; do
    kill -0 "${left[@]}" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "${left[@]}" 2>/dev/null
  rm -rf "$TMPDIR"
}
trap clean_up EXIT
trap 'clean_up; exit 130' INT TERM HUP

# Runs a command in the background and waits for it, so that a signal is handled at once.
run() { "$@" & wait $!; }
check() { run python3 tests/junit.py command "$results" "$@"; }
suite() { run python3 tests/junit.py suite "$results" "$@"; }

# build PRESET [TARGET...]: each group builds its programs, so that it never tests older code. A second build takes seconds.
build() {
  cmake --preset "$1" -DREPRISE_TESTS=ON >"build/configure.$1" || { cat "build/configure.$1"; return 1; }
  cmake --build "build/$1" -j "$jobs" ${2:+--target "${@:2}"}
}
builds() { check "build $*" bash -c "$(declare -f build); jobs=$jobs; build \"\$@\"" build "$@"; }

# Disables address space randomization if the kernel randomizes more bits than the sanitizers of clang 14 support.
fixed=()
[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || fixed=(setarch -R)
export ASAN_OPTIONS=malloc_context_size=8 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
short_quarantine=$ASAN_OPTIONS:quarantine_size_mb=16   # stories and fuzz targets are short, and are replayed by their seed

# unit PRESET [PATTERN]: twice as many at once as there are cores, because most tests wait for sockets.
unit_tests() {
  run python3 tests/junit.py ctest "$results" "unit tests of $1" "${fixed[@]}" ctest --test-dir "build/$1" -j $((2 * jobs)) ${2:+-R "$2"} --output-on-failure --no-tests=error
}
e2e() { suite "end to end with $1" "${fixed[@]}" python3 tests/e2e/run.py --bin "build/$1/reprise" --jobs 4 "${@:2}"; }

unformatted() { git ls-files -co --exclude-standard '*.cpp' '*.hpp' '*.c' | xargs -r clang-format --dry-run -Werror; }

group_structure() {
  local script
  check "clang-format" bash -c "$(declare -f unformatted); unformatted"
  check "junit.py counts right" python3 tests/junit.py --self-test
  check "e2e/run.py plays a failed case again" python3 tests/e2e/run.py --self-test
  for script in floors requirements citations; do
    check "$script.py finds planted mistakes" python3 "tests/$script.py" --self-test
    check "$script" python3 "tests/$script.py"
  done
  check "planted defects match the code" python3 tests/mutate.py --check
  python3 tests/voice.py  # only warns
}

group_build_check() { builds check reprise; }

group_build_asan() { builds asan; }

single_files() {
  check "configure single files" bash -c 'cmake --preset alone -DREPRISE_TESTS=ON && cmake --preset alone-gcc -DREPRISE_TESTS=ON' &&
    suite "single files" python3 tests/single_files.py "$@"
}

group_files() { single_files; }

group_unit() { builds asan && unit_tests asan; }

# stories COUNT SEED: one process for each core.
net_stories() {
  local each=$((($1 + jobs - 1) / jobs)) player players=()
  rm -f build/figures/net_stories.*.part
  for ((player = 0; player < jobs; player++)); do
    check "net stories from seed $(($2 + player * each))" env ASAN_OPTIONS="$short_quarantine" "${fixed[@]}" build/asan/tests/net_stories --threads 1 --seed $(($2 + player * each)) \
      --stories "$each" --figures "build/figures/net_stories.$player.part" &
    players+=($!)
  done
  wait "${players[@]}"
}

policy_stories=tests/simulation/policy/policy_stories

group_stories() {
  builds asan net_stories policy_stories || return
  check "policy stories" env ASAN_OPTIONS="$short_quarantine" "${fixed[@]}" build/asan/$policy_stories --all
  check "canaries of policy stories are found" "${fixed[@]}" build/asan/$policy_stories --canary
  net_stories 30000 1
}

group_fuzz() { builds asan fuzz_targets && suite "fuzz" python3 tests/fuzz/run.py --jobs "$jobs" --runs 100000 --seconds 4; }

group_e2e() { builds check reprise && e2e check --fault-figures build/figures/faults.json; }

quickstart_names_a_missing_program() {
  ! REPRISE_BIN=/none bash deploy/quickstart.sh >build/quickstart 2>&1 && grep -x "REPRISE_BIN: '/none' is not a program.*" build/quickstart
}

group_docs() {
  builds check reprise || return
  local program=$PWD/build/check/reprise
  suite "docs" python3 tests/docs.py --bin "$program"
  check "names that will be stable" python3 tests/stable_names.py --bin "$program"
  suite "release" python3 tests/release.py
  check "the table of figures" python3 tests/figures.py --docs
  check "quickstart names a program that does not exist" bash -c "$(declare -f quickstart_names_a_missing_program); quickstart_names_a_missing_program"
  check "quickstart from another folder" env REPRISE_BIN="$program" bash -c 'script=$PWD/deploy/quickstart.sh; cd / && bash "$script"'
}

group_release() { builds release && unit_tests release; }

# Checks the protections of cmake/hardening.cmake in the program, with Debian's hardening-check.
group_hardening() {
  builds release reprise || return
  # Its check of control flow protection fails for every program of Debian 12, because the start-up files lack it. So ours is checked below.
  check "hardening of the shipped program" hardening-check --nocfprotection build/release/reprise
  [ "$(uname -m)" != x86_64 ] || check "control flow protection" bash -c '[ "$(objdump -d build/release/reprise | grep -c endbr64)" -gt 1000 ]'
  check "no segment is both writable and executable" bash -c '! readelf -lW build/release/reprise | grep -E " RWE "'
  check "debug information is beside the program" test -s build/release/reprise.debug
}

group_e2e_release() { builds release reprise && e2e release --seed fresh --fault-figures build/figures/faults.json; }

group_browser() { builds release reprise && suite "browser" python3 tests/browser/run.py --bin build/release/reprise; }

group_interop() {
  builds release reprise || return
  suite "interop" python3 tests/interop/run.py --bin build/release/reprise
  suite "interop HTTP/2" python3 tests/interop/run_http2.py --bin build/release/reprise
  suite "interop gRPC" python3 tests/interop/run_grpc.py --bin build/release/reprise
}

group_package() { builds release reprise && suite "package" python3 tests/package/run.py --bin build/release/reprise; }

# Compiles the whole program twice, in chroots.
group_releases() { suite "releases" python3 tests/package/releases.py; }

group_image_rules() {
  builds release reprise || return
  check "alert rules" python3 tests/alerts.py --bin build/release/reprise
  check "dashboard" python3 tests/dashboard.py --bin build/release/reprise
  check "the benchmark runs" python3 tests/bench/bench.py --bin build/release/reprise --peers dumbpipe --baseline dumbpipe \
    --scenarios lat,down64m_c4,up64m_c4 --secs 1 --rounds 1 --tries 1 --pin none
}

group_soak() {
  builds release reprise reprise_soak || return
  check "executed-but-lost POSTs, seed $seed" bash tests/soak.sh --seed "$seed" --lost-posts 10000
  check "soak, seed $seed" bash tests/soak.sh --seed "$seed" 2
}

group_cost() {
  builds release reprise micro_bench || return
  check "the gate of instructions notices what it must" python3 tests/bench/instructions.py --self-test
  check "instructions a request" python3 tests/bench/instructions.py
  check "micro-benchmarks" build/release/tests/bench/micro/micro_bench --benchmark_min_time=0.01
}

# Canaries are defects planted in the stories. Some show only in one of several hundred stories.
group_stories_night() {
  local canary
  builds asan net_stories && builds release policy_stories || return
  check "policy stories" build/release/$policy_stories --all --random 1000000 --figures build/figures/policy_stories.json
  net_stories 200000 "$seed" && check "figures of net stories" python3 tests/figures.py --add net_stories
  for canary in repeated-effect wrong-byte lost-end used-before one-connection old-name clear-text deaf-kernel unnamed-change processed-anyway kept-window foreign-death; do
    check "canary $canary is found" env ASAN_OPTIONS="$short_quarantine" "${fixed[@]}" build/asan/tests/net_stories --threads "$jobs" --stories 10000 --canary "$canary"
  done
}

group_fuzz_night() { builds asan fuzz_targets && suite "fuzz" python3 tests/fuzz/run.py --jobs "$jobs" --seed fresh --runs 100000000 --seconds 60; }

group_e2e_asan() { builds asan reprise && e2e asan --seed fresh --load 1500; }

# Code that several threads run: the rooms above the sockets, metrics, history, and the program with four io threads.
group_tsan() {
  local rooms
  rooms=$(python3 -c 'import sys; sys.path.insert(0, "tests"); from coverage import SOCKET_TESTS; print(" ".join(SOCKET_TESTS))')
  # shellcheck disable=SC2086
  builds tsan reprise $rooms && unit_tests tsan "^(${rooms// /|})\\."
  e2e tsan --threads 4 --load 1000 --seed fresh --only 'test_(retries|replay|load|shutdown|tunnels)\.'
}

group_coverage() { builds coverage && suite "coverage" "${fixed[@]}" python3 tests/coverage.py; }

# On a real API server, where REPRISE_K8S_BIN has its binaries.
group_cluster() { builds release reprise && suite "cluster" python3 tests/cluster/run.py --bin build/release/reprise; }

group_files_night() { single_files --all; }

# A sample, because all defects take hours. `tests/mutate.py` without --sample plants all of them.
group_mutants() { suite "planted defects, seed $seed" python3 tests/mutate.py --jobs "$jobs" --sample 16 --seed "$seed"; }

# Packages are installed once, with one more try.
install() { install_missing "$@" || { sleep 5; install_missing "$@"; }; }
install "${build_packages[@]}" "${test_packages[@]}" || { echo "without these packages nothing can be built or tested" >&2; exit 1; }
declare -A wanted=([browser]="${browser_packages[*]}" [package]="${package_packages[*]}" [releases]="${package_packages[*]} ${foreign_packages[*]}" [hardening]=devscripts [e2e_release]="${shell_packages[*]}" [image_rules]="${rules_packages[*]}"
  [cost]="${measure_packages[*]}" [soak]="${measure_packages[*]}" [release]="${measure_packages[*]}")
for entry in "${client_packages[@]}"; do sh -c "${entry#*: }" >/dev/null 2>&1 || wanted[interop]+=" ${entry%%: *}"; done
for group in "${groups[@]}"; do
  # shellcheck disable=SC2086
  [ -z "${wanted[$group]:-}" ] || install ${wanted[$group]} || for package in ${wanted[$group]}; do
    is_installed "$package" && continue
    echo "group $group cannot play what needs the package $package" >&2
    [ "${CI:-}" != true ] || check "package $package, which group $group needs" false
  done
done
own_build_folder || exit 1
mkdir -p build/figures
begin=$SECONDS
for group in "${groups[@]}"; do
  echo
  echo "=== $group"
  start=$SECONDS
  "group_$group"
  times+=("$(printf '%-14s %3d:%02d' "$group" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))")
  echo "=== ${times[-1]} min"
done

echo
printf '%s\n' "${times[@]}"
printf '%-14s %3d:%02d min\n' total $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60))
! $is_night || check "the figures hold" python3 tests/figures.py --check "${groups[@]}"
python3 tests/junit.py end "$results" $($is_night && echo --night)
