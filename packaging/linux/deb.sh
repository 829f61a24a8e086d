#!/usr/bin/env bash
# Makes a Debian package of the built program.
# Usage: deb.sh PROGRAM OUTPUT_FOLDER full|small
# JAMAK_DEB_VERSION overrides the version (to try an upgrade), JAMAK_MAINTAINER who is named as its maker.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1 output=$2 kind=$3
here=packaging/linux work=build/deb-$3
version=${JAMAK_DEB_VERSION:-$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)-1}
architecture=$(dpkg --print-architecture)
maintainer=${JAMAK_MAINTAINER:-The Jamak authors <maintainers@jamak.invalid>}
name=jamak other=jamak-small
[ "$kind" = full ] || { name=jamak-small other=jamak; }
root=$work/root

rm -rf "$work"
mkdir -p "$root/DEBIAN" "$output"
$here/stage.sh "$program" "$root/usr" "$kind"
doc=$root/usr/share/doc
[ "$name" = jamak ] || mv "$doc/jamak" "$doc/$name"
mkdir -p "$root/usr/share/lintian/overrides"
sed "s/@NAME@/$name/" $here/lintian-overrides >"$root/usr/share/lintian/overrides/$name"
gzip -9n <packaging/CHANGELOG.md >"$doc/$name/changelog.gz"
gzip -9n >"$doc/$name/changelog.Debian.gz" <<C
$name ($version) stable; urgency=low

  * What is new in the program is in changelog.gz.

 -- $maintainer  $(git log -1 --format=%cD 2>/dev/null || date -R)
C

depends=$($here/depends.sh "$program")

cat >"$root/DEBIAN/control" <<C
Package: $name
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: $depends, libportaudio2, libasound2-plugins
Recommends: fonts-noto-cjk, ca-certificates, pipewire-pulse | pulseaudio, shared-mime-info, desktop-file-utils
Conflicts: $other
Replaces: $other
Section: sound
Priority: optional
Description: speech to text on your own computer
 Drop audio or video files on the window and read their words, with times, as
 they are recognised; or press one button and read live captions of the
 microphone or of what the computer plays. Correct the text, search it, play
 any line, export it as text or subtitles.
 .
 No account, no telemetry, and nothing leaves the machine unless you name a
 server that shall do the work.
 .
$([ "$kind" = full ] && echo " This package has the Whisper base model in it and works without a network." \
  || echo " This package has no model in it; it offers the download at the first start.")
C
install -m 755 $here/postrm "$root/DEBIAN/postrm"
find "$root" -type d -exec chmod 755 {} +
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zzstd -z"${ZSTD_LEVEL:-12}" --build "$root" "$output/${name}_${version}_$architecture.deb" >/dev/null
rm -rf "$work"
ls -l "$output/${name}_${version}_$architecture.deb"
