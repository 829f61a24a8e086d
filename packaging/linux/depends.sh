#!/usr/bin/env bash
# Says which of this Debian's packages have the libraries that the built program needs and does not bring along.
# Fails where a library is in neither. Usage: depends.sh PROGRAM     The answer is kept until the program is built anew.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "$1") work=$PWD/build/depends
if [ ! "$work/answer" -nt "$program/jamak" ]; then
  mkdir -p "$work/debian"
  printf 'Source: jamak\n\nPackage: jamak\nArchitecture: any\n' >"$work/debian/control"
  mapfile -t folders < <(find "$program/_internal" -name '*.so*' -printf '-l%h\n' | sort -u)
  (cd "$work" && find "$program" -type f \( -name '*.so*' -o -name jamak -o -name torch_shm_manager \) -print0 \
    | xargs -0 dpkg-shlibdeps -O --ignore-missing-info --warnings=0 -l"$program/_internal" "${folders[@]}") >"$work/new" 2> >(grep -v '^dpkg-shlibdeps: warning:' >&2)
  sed -n 's/^shlibs:Depends=//p' "$work/new" >"$work/answer"
fi
grep . "$work/answer"
