#!/usr/bin/env bash
# Has Debian's own tools look at a finished package: desktop entry, AppStream description, lintian.
# Usage: check.sh PACKAGE
set -euo pipefail
package=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dpkg-deb --raw-extract "$package" "$work/root"
desktop-file-validate "$work"/root/usr/share/applications/jamak.desktop
appstreamcli validate --no-net "$work"/root/usr/share/metainfo/*.xml
# Lintian of Debian 12 cannot open what its own dpkg can (zstd).
dpkg-deb --root-owner-group -Zgzip -z1 --build "$work/root" "$work/$(basename "$package")" >/dev/null
rm -rf "$work/root"
lintian --allow-root --fail-on error,warning "$work/$(basename "$package")"
