#!/usr/bin/env bash
# Starts the window, or does the same job in the terminal where there is no display. FILE is the recording.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(uname)" = Linux ] && [ -z "${DISPLAY:-}" ] && [ -z "${WAYLAND_DISPLAY:-}" ]; then
  echo "There is no display here, so Jamak works in the terminal instead of opening its window." >&2
  exec .venv/bin/jamak transcribe -- "${FILE:-resources/sample.flac}"
fi
exec .venv/bin/jamak ${FILE:+"$FILE"}
