# Runs one attempt of a task and lives exactly as long as it. Plain POSIX sh, no process of its own beyond the command unless
# there is a time limit; it needs nobody else to be alive. Started as the leader of a new session, in the job's folder, with
# the command's environment.
#
#   supervisor.sh FOLDER UMASK LIMIT SIGNAL GRACE UID BOOT GROUPS PROGRAM ARGUMENT...
#
# FOLDER  the attempt's folder. `claim` in it is created once (O_EXCL): whoever creates it runs the command, all others leave.
#         Its first line is a slot of 95 characters, overwritten in place at the end, so that a full disk cannot lose the end:
#         `exit CODE PID BEGIN END .` or `timeout CODE PID BEGIN END .` (seconds since boot). Then the boot id and the beginning
#         of this shell's line of /proc/self/stat, or all of it: see BOOT.
# UMASK   of the command; the files here are for their owner only.
# LIMIT   seconds the command may run, or -. Then SIGNAL goes to the whole session, and after GRACE seconds KILL.
# UID     of the attempt. Who looks for this shell by boot and pid knows it by this argument.
# BOOT    the boot id where such a look at arguments is meant, or -: then the claim gets the line of /proc/self/stat, whose start time
#         does as well. The shell reads it byte by byte, which costs as much as a fork.
# GROUPS  number of control groups to join, followed by their cgroup.procs files.
trap 'stopped=1' TERM INT HUP QUIT USR1 USR2
folder=$1 mask=$2 limit=$3 signal=$4 grace=$5 uid=$6 boot=$7 groups=$8
shift 8
umask 077
set -C
self="$$ (sh)" begin=- end=- rest=
if [ -r /proc/self/stat ]; then
  if [ "$boot" = - ]; then
    read -r boot </proc/sys/kernel/random/boot_id
    read -r self </proc/self/stat
  fi
  read -r begin rest </proc/uptime
fi
printf '%-95s\n%s\n%s\n' '' "$boot" "$self" >"$folder/claim" || exit 1
exec 3>>"$folder/out" 4>>"$folder/err" </dev/null
umask "$mask"

# WORD CODE: writes the end and leaves.
leave() {
  [ "$begin" = - ] || read -r end rest </proc/uptime
  printf '%-95s\n' "$1 $2 $$ $begin $end ." 1<>"$folder/claim"
  exit "$2"
}

# Nearly every attempt gets no further than this; sh has then not read what follows. In a subshell, so that the shell's own words
# about a signal do not get into the command's stream.
if [ "$limit$groups$stopped" = -0 ]; then
  (exec "$@" >&3 2>&4 3>&- 4>&-)
  leave exit $?
fi

# Signals everything of this attempt but this shell and the watchdog: what left the session but kept its environment, first,
# since the end of the command ends the watchdog; then the session.
signal_all() {
  read -r me rest </proc/self/stat
  others=$(grep -ls "IRIS_ATTEMPT_UID=$uid" /proc/[0-9]*/environ)
  for path in $others /proc/[0-9]*/stat; do
    pid=${path#/proc/} pid=${pid%/*}
    case $pid in "$$" | "$me") continue ;; esac
    case $path in
      */stat)
        read -r line <"$path" || continue
        session=${line##*) } session=${session#* } session=${session#* } session=${session#* }
        [ "${session%% *}" = "$$" ] || continue
        ;;
    esac
    kill "-$1" "$pid"
  done
}

watchdog=
if [ "$limit" != - ]; then
  (
    exec 3>&- 4>&-
    trap '' TERM INT HUP QUIT USR1 USR2
    # Its exit code tells that the limit struck, and so does a file, for when nobody can wait for the code.
    struck=0
    trap 'kill -KILL $!; exit $struck' ALRM
    sleep "$limit" &
    wait $!
    struck=99
    # Not by the colon: a shell ends with a redirection of that which fails, as with the folder gone or the disk full.
    { true >"$folder/timeout"; } 2>/dev/null
    if [ -r /proc/self/stat ]; then
      signal_all "$signal"
    else
      kill "-$signal" "-$$"
    fi
    sleep "$grace" &
    wait $!
    # Until the shell above sees the command end and ends this one.
    while [ -r /proc/self/stat ]; do
      signal_all KILL
      sleep 0.2 &
      wait $!
    done
    kill -KILL "-$$"
  ) &
  watchdog=$!
fi

if [ -n "$stopped" ]; then
  code=143
else
  (
    while [ "$groups" -gt 0 ]; do
      echo 0 >>"$1"
      shift
      groups=$((groups - 1))
    done
    exec "$@" >&3 2>&4 3>&- 4>&-
  )
  code=$?
fi
word=exit
if [ -n "$watchdog" ]; then
  kill -ALRM "$watchdog"
  wait "$watchdog"
  if [ "$?" = 99 ] || [ -e "$folder/timeout" ]; then word=timeout; fi
fi
leave "$word" "$code"
