#!/usr/bin/env bash
# Gets the default model, whole and checked, for the packages that carry it: build/models/whisper-base
# Usage: model.sh VENV
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1 model=whisper-base
have=${XDG_DATA_HOME:-$HOME/.local/share}/jamak/models/$model
mkdir -p build/models
if [ ! -d "build/models/$model" ] && [ -d "$have" ]; then
  cp -r "$have" build/models/
  # Archives keep whole seconds only, and a file whose time has changed counts as unchecked.
  find "build/models/$model" -type f -exec touch -d @1700000000 {} +
fi
JAMAK_DATA_DIR=build "$venv/bin/python" -m engine.manager.downloads "$model"
if find "build/models/$model" -type f -newermt @1700000001 ! -name '.*' | grep . >/dev/null; then
  find "build/models/$model" -type f -exec touch -d @1700000000 {} +
  JAMAK_DATA_DIR=build "$venv/bin/python" -m engine.manager.downloads "$model"
fi
