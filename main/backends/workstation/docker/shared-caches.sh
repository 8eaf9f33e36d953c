# The caches of a machine's containers: how much they take, and their emptying. The same text runs here and over SSH, in a process of
# its own, so that a disk that hangs holds up nobody else. No link is followed, and nothing outside of FOLDER is touched.
#   look FOLDER NAME...         -> cache NAME all|part KIB, or cache NAME none|link, then what `remove` tells
#   empty FOLDER STAMP NAME...  -> moved NAME, or kept NAME link|WHY, then emptied
#   remove FOLDER idle|busy     -> left KIB PATH of each that could not be removed, then removed
# `absent` or `link` alone: of FOLDER itself. `failed WHY`: nothing could be done.
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}:/usr/bin:/bin
LC_ALL=C
export PATH LC_ALL
# Whatever is called here has the output open as long as it lives, by which who reads that knows whether something hangs.
exec 3>&1
renice -n 19 $$ >/dev/null 2>&1
action=$1
folder=$2
shift 2
case $folder in
  /*/*) ;;
  *) exit 2 ;;
esac
if [ -h "$folder" ]; then
  echo link
  exit 0
fi
if [ ! -d "$folder" ]; then
  echo absent
  exit 0
fi

is_folder() { [ -d "$1" ] && [ ! -h "$1" ]; }

# Of this file system alone.
measure() {
  how=all
  size=$(du -skx "$1" 2>/dev/null) || how=part
  size=${size%%[!0-9]*}
}

tell_left() {
  for at in "$folder"/.emptied-* "$folder"/.emptying-*; do
    is_folder "$at" || continue
    measure "$at"
    printf 'left %s %s\n' "${size:-0}" "$at"
  done
}

case $action in
  look)
    for name; do
      at=$folder/$name
      if [ -h "$at" ]; then
        printf 'cache %s link\n' "$name"
      elif [ -d "$at" ]; then
        measure "$at"
        printf 'cache %s %s %s\n' "$name" "$how" "${size:-0}"
      else
        printf 'cache %s none\n' "$name"
      fi
    done
    tell_left
    echo looked
    ;;
  empty)
    stamp=$1
    shift
    aside=$folder/.emptying-$stamp
    if ! why=$(mkdir -m 700 "$aside" 2>&1); then
      printf 'failed %s\n' "$why"
      exit 0
    fi
    for name; do
      at=$folder/$name
      if [ -h "$at" ]; then
        printf 'kept %s link\n' "$name"
      elif [ -d "$at" ]; then
        # A disk that is mounted there stays: it cannot be renamed.
        if why=$(mv -f "$at" "$aside/$name" 2>&1); then
          printf 'moved %s\n' "$name"
        else
          printf 'kept %s %s\n' "$name" "$why"
        fi
      fi
    done
    # Only what bears this name is known to be nobody's any more, whatever runs.
    mv -f "$aside" "$folder/.emptied-$stamp" && echo emptied
    ;;
  remove)
    for at in "$folder"/.emptied-* "$folder"/.emptying-*; do
      is_folder "$at" || continue
      case $1$at in busy"$folder"/.emptying-*) continue ;; esac
      # Some tools take away the right to write to what they have unpacked.
      find "$at" -xdev -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
      find "$at" -xdev -depth -delete 2>/dev/null
    done
    tell_left
    echo removed
    ;;
esac
