#!/usr/bin/env bash
# Lays out what clean_root.sh proves: the packages in dist/, and an older one of the same program to upgrade from.
# Usage: upgrade_pair.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
rm -rf "$folder"
mkdir -p "$folder"
ln dist/*.deb dist/jamak-[0-9]*.run "$folder/"
JAMAK_DEB_VERSION=0.0.1-1 ZSTD_LEVEL=1 packaging/linux/deb.sh build/dist/jamak "$folder" full
