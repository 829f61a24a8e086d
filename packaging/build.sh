#!/usr/bin/env bash
# Builds the program: one folder that runs where no Python is. Result: build/dist/jamak/jamak
# Usage: build.sh VENV [--quick]     --quick takes PyAV's own wheel (with GPL parts) and strips nothing: for tests only.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 quick=${2:-}
python=$PWD/$venv/bin/python
build=$PWD/build

stamp=$(sha256sum packaging/requirements.txt | cut -d' ' -f1)
if [ "$(cat "$build/tools/.stamp" 2>/dev/null)" != "$stamp" ]; then
  rm -rf "$build/tools"
  "$python" -m pip install -q --disable-pip-version-check --target "$build/tools" -r packaging/requirements.txt
  echo "$stamp" >"$build/tools/.stamp"
fi

media=-
path=$build/tools
libraries=
if [ "$quick" != --quick ]; then
  packaging/media.sh "$venv" build/media
  media=$build/media path=$build/media/python:$path libraries=$build/media/lib
fi

QT_QPA_PLATFORM=offscreen "$python" packaging/icons.py "$build/icons"
rm -rf "$build/dist/jamak"
PYTHONPATH=$path LD_LIBRARY_PATH=$libraries "$python" -m PyInstaller packaging/jamak.spec --noconfirm \
  --log-level "${LOG_LEVEL:-WARN}" --workpath "$build/work" --distpath "$build/dist"
rm -rf "$build/work"
program=$build/dist/jamak

polish() {
  # The makers of Python leave their own folders in the search paths of what they link.
  find "$program/_internal/av" "$program"/_internal/python3* "$program"/_internal/libpython* -name '*.so*' -type f \
    -exec patchelf --remove-rpath {} +
  # The tables of names that torch and Python carry are for debuggers; a fifth of torch.
  strip --strip-unneeded "$program"/_internal/torch/lib/libtorch_*.so "$program"/_internal/libpython*.so* \
    "$program"/_internal/python3*/lib-dynload/*.so
}
[ "$quick" = --quick ] || polish
"$python" packaging/licences.py "$program" "$build/collected.json" "$media"
"$python" packaging/sizes.py "$program"
