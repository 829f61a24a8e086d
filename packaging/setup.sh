#!/usr/bin/env bash
# Sets up what a clone needs: system libraries, a virtual environment, the locked dependencies.
# Usage: setup.sh VENV run|test|package      PYTHON names the interpreter. Runs again cheaply.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 purpose=$2 python=${PYTHON:-python3}

# Qt's window and sound need these; everything else comes with the Python packages.
libraries=(libegl1 libgl1 libglib2.0-0 libdbus-1-3 libfontconfig1 libxkbcommon-x11-0 libxcb-cursor0
  libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1
  libpulse0 libportaudio2 libasound2-plugins)
# Korean, Japanese and Chinese text is boxes without a font that has it.
if ! { command -v fc-list >/dev/null && [ -n "$(fc-list :lang=ko)" ]; }; then libraries+=(fontconfig fonts-noto-cjk); fi
# Tests play into virtual microphones, and build the program as one folder.
if [ "$purpose" = test ]; then libraries+=(pulseaudio pulseaudio-utils binutils curl); fi
# Packages are built by these.
if [ "$purpose" = package ]; then
  libraries+=(gcc g++ make nasm pkg-config zlib1g-dev curl xz-utils binutils file patchelf dpkg-dev lintian
    desktop-file-utils appstream)
fi

missing_packages() {
  local package
  for package in "${libraries[@]}"; do
    # Newer releases renamed some (libglib2.0-0t64); a name apt does not know is not asked for.
    dpkg-query -W -f='${Status}\n' "$package" "${package}t64" 2>/dev/null | grep -q '^install ok installed' || echo "$package"
  done
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  mapfile -t missing < <(missing_packages)
  if [ "${#missing[@]}" -gt 0 ]; then
    if [ "$(id -u)" = 0 ]; then
      echo "Installing system packages: ${missing[*]}"
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    else
      echo "Jamak needs system packages that are not installed: ${missing[*]}"
      echo "Paste this, then start again:"
      echo
      echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
      exit 1
    fi
  fi
fi

[ -e "$venv/.ready" ] && [ "$venv/.ready" -nt requirements.lock ] && [ "$venv/.ready" -nt pyproject.toml ] && exit 0

"$python" - <<'P' || { echo "Jamak needs Python 3.11 or newer ($python is older)."; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
P
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
echo "Installing the locked Python packages into $venv. That is about 1 GB on disk; on Linux with the default"
echo "package index PyTorch brings its CUDA libraries as well, which are several GB more."
"$venv/bin/python" -m pip install -q --disable-pip-version-check -r requirements.lock
"$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --editable .
