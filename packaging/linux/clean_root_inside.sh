#!/bin/bash
# What clean_root.sh does inside the clean Debian. Packages are in /packages, results go to /proof.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
user_home=/home/user
recording="$user_home/회의 녹음.flac"
library=$user_home/.local/share/jamak/library.db
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

say() { printf '\n== %s\n' "$*"; }
die() { echo "FAILED: $*"; exit 1; }

# As a person who is logged in, without a network unless NET=1.
as_user() {
  local apart=(unshare --net)
  [ -z "${NET:-}" ] || apart=(env)
  "${apart[@]}" setpriv --reuid user --regid user --init-groups \
    env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=$user_home LANG="${AS_LANG:-C.UTF-8}" DISPLAY=:9 \
    XDG_RUNTIME_DIR=/run/user/1000 XDG_CURRENT_DESKTOP=X-Generic "$@"
}

add() { apt-get install -y -qq --no-install-recommends "$@" >/proof/apt.txt 2>&1 || { tail -n 20 /proof/apt.txt; die "apt install $*"; }; }

now_ms() { date +%s%3N; }

wait_for() { # SECONDS COMMAND…
  local until=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $until ] || return 1; sleep 0.05; done
}

window() { DISPLAY=:9 xdotool search --onlyvisible --class jamak; }
is_written() { cat "$library"* 2>/dev/null | grep -a 'the words appear on the page' >/dev/null; }
shoot() { sleep "${2:-1}"; DISPLAY=:9 import -window root "/proof/$1.png"; }

close_window() {
  local process
  process=$(pgrep -o -u user -x jamak)
  kill -TERM "$process"
  wait_for 20 sh -c '! pgrep -u user -x jamak' || die "something of the program lives on: $(pgrep -a -u user jamak)"
}

mapfile -t versions < <(ls /packages/jamak_*.deb | sort -V)
[ ${#versions[@]} = 2 ] || die "two versions of the package are needed, found ${#versions[@]}"

say "a minimal $(. /etc/os-release; echo "$PRETTY_NAME"): $(dpkg-query -W | wc -l) packages, no display, no sound, no Python"
! command -v python3 || die "there is a Python here, which proves nothing"
apt-get update -qq
useradd -m user
install -d -o user -g user -m 700 /run/user/1000
cp /proof/sample.flac "$recording"
chown user: "$recording"

say "the older package is installed, with what it depends on and nothing else"
before=$(dpkg-query -W | wc -l)
add "${versions[0]}"
echo "$(dpkg-query -W -f='${Package} ${Version}' jamak); $(($(dpkg-query -W | wc -l) - before - 1)) packages came with it"

say "its self-test, without a network"
as_user jamak doctor --self-test || die "the self-test"

say "the command line"
as_user jamak transcribe --format srt "$recording" 2>/dev/null | head -n 4
as_user jamak doctor | grep -E '^(jamak|python|system|torch|av|PySide6|display)'

say "a display, and what opens files on a desktop"
add xvfb xdotool imagemagick openbox libglib2.0-bin fonts-noto-cjk shared-mime-info desktop-file-utils procps
# On a path: the abstract name is shared with displays outside, and not seen from a network of its own.
mkdir -p -m 1777 /tmp/.X11-unix
Xvfb :9 -screen 0 1280x800x24 -nolisten tcp -nolisten local >/proof/xvfb.txt 2>&1 &
wait_for 60 test -S /tmp/.X11-unix/X9 || die "no display"
DISPLAY=:9 openbox >/proof/openbox.txt 2>&1 &
desktop-file-validate /usr/share/applications/jamak.desktop
as_user gio mime audio/flac | grep jamak.desktop >/dev/null || die "not among the programs for audio/flac"
echo "audio/flac can be opened by: $(as_user gio mime audio/flac | sed -n 's/^\t*//p' | grep desktop | sort -u | tr '\n' ' ')"
echo "type of a .w64 file: $(as_user sh -c 'cd; echo riff > a.w64; gio info -a standard::content-type a.w64 | sed -n "s/.*content-type: //p"')"

say "open with Jamak: a file with a Korean name, from the desktop"
as_user gio mime audio/flac jamak.desktop >/dev/null
began=$(now_ms)
as_user gio open "$recording" &
wait_for 30 window || die "no window"
echo "window after $(($(now_ms) - began)) ms"
wait_for 60 is_written || die "no transcript"
echo "its words are in the library after $(($(now_ms) - began)) ms"
shoot 1-opened 3
DISPLAY=:9 xprop -id "$(window | tail -n 1)" WM_CLASS 2>/dev/null || true
close_window

say "started again, warm"
began=$(now_ms)
as_user jamak &
wait_for 30 window || die "no window"
echo "window after $(($(now_ms) - began)) ms"
close_window

say "the newer package over it"
add "${versions[1]}"
dpkg-query -W -f='${Package} ${Version} ${Status}\n' jamak
AS_LANG=ko_KR.UTF-8 as_user jamak &
wait_for 30 window || die "no window after the upgrade"
is_written || die "the library is gone"
shoot 2-upgraded-korean 5
close_window

for small in /packages/jamak-small_*.deb; do
  [ -e "$small" ] || continue
  say "the small package in its place"
  add "$small"
  dpkg-query -W -f='${Package} ${Status}\n' jamak jamak-small 2>/dev/null || true
  mv "$user_home/.local" "$user_home/.local-kept"
  as_user jamak &
  wait_for 30 window || die "no window of the small package"
  shoot 3-small-first-start 4
  close_window
  rm -rf "$user_home/.local"
  mv "$user_home/.local-kept" "$user_home/.local"
done

say "removed"
apt-get remove -y -qq 'jamak*' 2>&1 | grep -A2 'Recordings and transcripts' || die "no word about what stays"
[ ! -e /usr/lib/jamak ] && [ ! -e /usr/bin/jamak ] && [ ! -e /usr/share/applications/jamak.desktop ] || die "something stayed"
is_written || die "the library went with it"
as_user ls -l "$user_home/.local/share/jamak"

for run in /packages/jamak-[0-9]*.run; do
  [ -e "$run" ] || continue
  say "the single file, for one user"
  add xz-utils libegl1 libgl1
  as_user sh "$run" || die "the installer"
  as_user "$user_home/.local/bin/jamak" doctor --self-test || die "its self-test"
  as_user gio launch "$user_home/.local/share/applications/jamak.desktop" "$recording" &
  wait_for 30 window || die "no window of the single file"
  shoot 4-single-file 3
  close_window
  as_user "$user_home/.local/lib/jamak/uninstall.sh"
  [ ! -e "$user_home/.local/lib/jamak" ] || die "it stayed"
  is_written || die "the library went with it"
done

echo
echo PROVED
