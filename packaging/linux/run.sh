#!/usr/bin/env bash
# Makes one file of the built program that installs itself: `sh jamak-VERSION.run`.
# Usage: run.sh PROGRAM OUTPUT_FOLDER full|small
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1 output=$2 kind=$3
work=build/run-$3
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
target=$output/jamak-$version-linux-x86_64.run
[ "$kind" = full ] || target=$output/jamak-small-$version-linux-x86_64.run

pack() { tar --owner=0 --group=0 --numeric-owner --sort=name -cf - "$@" | xz -T0 -"${XZ_LEVEL:-1}"; }

rm -rf "$work"
mkdir -p "$work" "$output"
packaging/linux/stage.sh "$program" "$work/root" "$kind"
# The large part is the same in both kinds, and packed once. Archives may follow one another, as may xz's streams.
common=build/run-common.tar.xz
if [ ! "$common" -nt "$program/jamak" ]; then
  pack -C "$work/root" --exclude=lib/jamak/_internal/models lib share >"$common.new"
  mv "$common.new" "$common"
fi
cp "$common" "$work/payload"
[ "$kind" = small ] || pack -C "$work/root" lib/jamak/_internal/models >>"$work/payload"
sed "s/@VERSION@/$version/g; s/@KILOBYTES@/$(du -sk "$work/root" | cut -f1)/; s/@SHA256@/$(sha256sum "$work/payload" | cut -d' ' -f1)/" \
  packaging/linux/installer.sh >"$work/header"
sed -i "s/@HEADER_LINES@/$(wc -l <"$work/header")/" "$work/header"
cat "$work/header" "$work/payload" >"$target"
chmod 755 "$target"
rm -rf "$work"
ls -l "$target"
