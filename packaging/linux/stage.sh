#!/usr/bin/env bash
# Lays the built program and what a desktop wants to know of it out below a folder, as they lie below /usr.
# Usage: stage.sh PROGRAM FOLDER full|small     PROGRAM ends up in FOLDER/lib/jamak; "full" has the model with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1 root=$2 kind=$3
share=$root/share version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
# The day of the last change, so that the same source gives the same package.
date=$(git log -1 --format=%cs 2>/dev/null || date +%F)

rm -rf "$root"
mkdir -p "$root/lib" "$root/bin" "$share/applications" "$share/mime/packages" "$share/metainfo" "$share/doc/jamak" "$share/man/man1"
cp -al "$program" "$root/lib/jamak"
[ "$kind" = small ] || { mkdir "$root/lib/jamak/_internal/models"; cp -rp build/models/whisper-base "$root/lib/jamak/_internal/models/"; }
ln -s ../lib/jamak/jamak "$root/bin/jamak"
cp packaging/linux/jamak.desktop "$share/applications/"
cp packaging/linux/jamak.xml "$share/mime/packages/"
cp -r build/icons "$share/icons"
rm -f "$share"/icons/jamak.*
sed "s/@VERSION@/$version/; s/@DATE@/$date/" packaging/linux/io.github.jamak.jamak.metainfo.xml \
  >"$share/metainfo/io.github.jamak.jamak.metainfo.xml"
sed "s/@VERSION@/$version/; s/@DATE@/$date/" packaging/linux/jamak.1 | gzip -9n >"$share/man/man1/jamak.1.gz"
find "$root" -type f ! -path "$root/lib/jamak/jamak" ! -name torch_shm_manager -exec chmod 644 {} +
cat packaging/linux/copyright "$program/licences/components.txt" >"$share/doc/jamak/copyright"
