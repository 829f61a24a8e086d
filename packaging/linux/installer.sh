#!/bin/sh
# Jamak @VERSION@: installs itself for the user who runs it, or for everybody when root does. The program follows
# this script in the same file. `sh jamak.run --help` says what it can do.
set -eu
version='@VERSION@' header_lines=@HEADER_LINES@ kilobytes=@KILOBYTES@ sha256='@SHA256@'

usage() {
  cat <<H
Jamak $version for Linux on x86-64

  sh $(basename "$0")                    install, or replace an older version
  sh $(basename "$0") --to FOLDER        install below FOLDER instead of $prefix
  sh $(basename "$0") --extract FOLDER   only unpack the program into FOLDER
  sh $(basename "$0") --check            only check that the file is whole

It is removed by FOLDER/lib/jamak/uninstall.sh; recordings and transcripts stay.
H
}

fail() { echo "$1" >&2; exit 1; }

payload() { tail -n +"$((header_lines + 1))" "$0"; }

check() {
  command -v sha256sum >/dev/null || return 0
  [ "$(payload | sha256sum | cut -d' ' -f1)" = "$sha256" ] || fail "This file is damaged. Please download it again."
}

unpack() {
  command -v xz >/dev/null || fail "xz is missing; it is in the package xz-utils."
  free=$(df -Pk "$1" | awk 'NR == 2 { print $4 }')
  [ "$free" -gt "$kilobytes" ] || fail "Not enough room in $1: $((kilobytes / 1024)) MB are needed, $((free / 1024)) MB are free."
  payload | xz -dc | tar --ignore-zeros -xf - -C "$1"
}

# What the window and the sound need of the system; the names are Debian's and its kin's.
name_missing() {
  missing=
  for file in jamak _internal/PySide6/Qt/plugins/platforms/libqxcb.so _internal/PySide6/Qt/lib/libQt6Multimedia.so.6; do
    missing="$missing $(ldd "$1/$file" 2>/dev/null | awk '/not found/ { print $1 }')"
  done
  ldconfig -p 2>/dev/null | grep libportaudio.so.2 >/dev/null || [ ! -x "$(command -v ldconfig)" ] || missing="$missing libportaudio.so.2"
  missing=$(echo "$missing" | tr ' ' '\n' | sort -u | tr '\n' ' ')
  [ -z "$(echo "$missing" | tr -d ' ')" ] || cat <<M

These system libraries are missing:$missing
On Debian, Ubuntu and their kin:
  sudo apt install libegl1 libgl1 libfontconfig1 libdbus-1-3 libglib2.0-0 libpulse0 libportaudio2 libasound2-plugins
M
}

prefix=$HOME/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local
task=install
while [ $# -gt 0 ]; do
  case $1 in
    --to) [ $# -gt 1 ] || fail "--to needs a folder"; prefix=$2; shift ;;
    --extract) [ $# -gt 1 ] || fail "--extract needs a folder"; prefix=$2 task=extract; shift ;;
    --check) task=check ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
[ "$(uname -sm)" = "Linux x86_64" ] || fail "This program is for Linux on x86-64."
check
[ "$task" != check ] || { echo "The file is whole."; exit 0; }

mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
new=$prefix/.jamak-new
rm -rf "$new"
mkdir "$new"
trap 'rm -rf "$new"' EXIT INT TERM
echo "Unpacking …"
unpack "$new"
if [ "$task" = extract ]; then
  mv "$new/lib/jamak" "$prefix/jamak"
  echo "$prefix/jamak/jamak starts it."
  name_missing "$prefix/jamak"
  exit 0
fi

# The old version goes only when the new one is all there.
mkdir -p "$prefix/lib" "$prefix/bin" "$prefix/share"
rm -rf "$prefix/lib/jamak.old"
[ ! -e "$prefix/lib/jamak" ] || mv "$prefix/lib/jamak" "$prefix/lib/jamak.old"
mv "$new/lib/jamak" "$prefix/lib/jamak"
rm -rf "$prefix/lib/jamak.old"
ln -sf ../lib/jamak/jamak "$prefix/bin/jamak"
sed "s|^Exec=jamak|Exec=\"$prefix/bin/jamak\"|" "$new/share/applications/jamak.desktop" >"$new/desktop"
mv "$new/desktop" "$new/share/applications/jamak.desktop"
(cd "$new" && find share -type f) >"$prefix/lib/jamak/installed.txt"
(cd "$new" && tar -cf - share) | tar -xf - -C "$prefix"

refresh() {
  echo "update-desktop-database -q '$prefix/share/applications' 2>/dev/null || true"
  echo "update-mime-database '$prefix/share/mime' 2>/dev/null || true"
  echo "touch '$prefix/share/icons/hicolor' 2>/dev/null || true"
}
cat >"$prefix/lib/jamak/uninstall.sh" <<U
#!/bin/sh
# Removes the program, and nothing that was made with it.
set -eu
cd '$prefix'
[ ! -f lib/jamak/installed.txt ] || while read -r file; do rm -f "\$file"; done <lib/jamak/installed.txt
rm -rf lib/jamak
[ ! -L bin/jamak ] || rm -f bin/jamak
$(refresh)
echo "Recordings and transcripts stay: ~/.local/share/jamak and ~/Documents/Jamak."
U
chmod +x "$prefix/lib/jamak/uninstall.sh"
refresh | sh
echo "Jamak $version is installed. It is among the applications now; in a terminal: $prefix/bin/jamak"
name_missing "$prefix/lib/jamak"
exit 0
