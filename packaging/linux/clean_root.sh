#!/usr/bin/env bash
# Proves the packages in a minimal Debian: installs the .deb where nothing else is, uses it under Xvfb as a person would
# (a file opened from the desktop, its words in the library), upgrades it over an older one and removes it.
# Usage (as root): clean_root.sh PACKAGE_FOLDER RESULT_FOLDER
# PACKAGE_FOLDER has jamak_*.deb in two versions, and may have jamak-small_*.deb and a .run. RESULT_FOLDER gets
# report.txt and screenshots. TIME_LIMIT_S (1200) bounds all of it; the root is removed at the end unless KEEP_ROOT=1.
# SUITE (bookworm) and MIRROR choose the Debian.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "debootstrap and chroot need root." >&2; exit 1; }
if [ -z "${JAMAK_APART:-}" ]; then
  # Mounts and processes of our own: they are gone with us, however we end.
  JAMAK_APART=1 exec timeout --kill-after=20 "${TIME_LIMIT_S:-1200}" unshare --mount --propagation private \
    --pid --fork --kill-child "$0" "$@"
fi
cd "$(dirname "$0")/../.."
packages=$(realpath "$1")
mkdir -p "$2" build/root
results=$(realpath "$2") root=$(realpath build/root)
suite=${SUITE:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}

clear_root() { rm -rf --one-file-system "$root"; }
leave() {
  umount --recursive --lazy "$root/dev" "$root/proc" "$root/packages" 2>/dev/null || true
  if [ -n "${KEEP_ROOT:-}" ]; then echo "The root stays in $root"; else clear_root; fi
}
trap leave EXIT

# A base of this suite is made once; every proof begins with a copy of it.
base=build/base-$suite.tar
clear_root
if [ -f "$base" ]; then
  mkdir "$root"
  tar -C "$root" -xf "$base"
else
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$results/debootstrap.txt"
  rm -f "$root"/var/cache/apt/archives/*.deb
  tar -C "$root" -cf "$base.new" .
  mv "$base.new" "$base"
fi

mkdir -p "$root/packages" "$root/proof"
mount --bind "$packages" "$root/packages"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp packaging/linux/clean_root_inside.sh resources/sample.flac "$root/proof/"
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
  bash /proof/clean_root_inside.sh 2>&1 | tee "$results/report.txt"
cp "$root"/proof/*.png "$results/" 2>/dev/null || true
grep -q '^PROVED$' "$results/report.txt"
