# What is done for later groups of tests/run.sh while the tests of another wait for sockets: builds, and whole groups. Sourced, never run.
#
# It is done at the lowest priority, one thing after another. `run` is the folder of the run, and `said` where a group keeps what its
# commands say and its journal.

declare -A ahead=()   # the process at work, by what it makes: a preset's build, a group
newest_ahead=''

# do_ahead NAME COMMAND...: meanwhile, for later groups, with what tests leave of the cores while they wait for sockets; one after
# another. What fails is told by the group that asks for NAME, which does it again.
do_ahead() {
  local behind=$newest_ahead
  set -m   # a group of processes of its own, that is ended as one
  {
    renice -n 19 "$BASHPID"
    ahead=()   # it waits for nothing that comes behind it
    [ -z "$behind" ] || tail --pid="$behind" -f /dev/null
    "${@:2}"
  } >>"$run/ahead" 2>&1 </dev/null &
  newest_ahead=$!
  set +m
  ahead[$1]=$newest_ahead
}

# await NAME: until that was done. Who asks may be a subshell, whose child it is not.
await() { [ -z "${ahead[$1]:-}" ] || tail --pid="${ahead[$1]}" -f /dev/null; }

stop_what_is_ahead() {
  local process
  for process in $(jobs -pr); do kill -- "-$process" 2>/dev/null || kill "$process"; done
}

# play_ahead GROUP: a whole group that computes more than it waits. What it builds in was built by then, or is not built in meanwhile.
play_ahead() {
  mkdir "$run/$1"
  do_ahead "$1" play_for_later "$1"
}

play_for_later() {
  local start=$SECONDS
  said=$run/$1   # its own until its turn
  "group_$1" >"$said/told" 2>&1
  echo $((SECONDS - start)) >"$said/seconds"
}

# play GROUP: or tells what came of it, where it was played ahead.
play() {
  await "$1"
  [ -d "$run/$1" ] || { "group_$1"; return; }
  cat "$run/$1/told"
  [ ! -e "$run/$1/journal" ] || cat "$run/$1/journal" >>"$said/journal"
  check "group $1 came to its end" test -s "$run/$1/seconds" &&
    echo "=== $1: $(minutes "$(cat "$run/$1/seconds")") min beside other groups"
}
