#!/usr/bin/env bash
# Makes everything a person on Linux can be given, in dist/: two Debian packages and two single files, each with the model
# and without it, the FFmpeg source that the LGPL asks for, and checksums.
# Usage: package.sh VENV
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 program=build/dist/jamak

packaging/build.sh "$venv"
packaging/model.sh "$venv"
rm -rf dist
mkdir -p dist/sources
cp build/media/sources/* dist/sources/
for kind in full small; do
  packaging/linux/deb.sh "$program" dist "$kind"
  packaging/linux/run.sh "$program" dist "$kind"
done
cp "$program/licences/components.txt" dist/components.txt
(cd dist && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)

packaging/linux/check.sh dist/jamak-small_*.deb
