#!/bin/bash
# Builds Jamak.app and a disk image on a Mac. NOT TRIED YET: written from the tools' manuals, for somebody with a Mac.
#
# Needs: the command line tools (xcode-select --install), Python 3.11 or newer from python.org, and Homebrew's
# pkg-config and nasm for FFmpeg. Usage, from the top of a clone:
#
#   packaging/macos/build.sh                                   an app for this machine only (ad-hoc signature)
#   SIGN="Developer ID Application: NAME (TEAM)" NOTARY=PROFILE packaging/macos/build.sh
#
# NOTARY is a profile made once by `xcrun notarytool store-credentials PROFILE`.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=build/venv python=build/venv/bin/python
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$python" -m pip install -q -r <(grep -v '^pulsectl' requirements.lock)
"$python" -m pip install -q --no-deps --editable .
"$python" -m pip install -q --target build/tools -r packaging/requirements.txt

packaging/media.sh "$venv" build/media
QT_QPA_PLATFORM=offscreen "$python" packaging/icons.py build/icons
[ "${MODEL:-full}" = small ] || packaging/model.sh "$venv"

PYTHONPATH=$PWD/build/media/python:$PWD/build/tools DYLD_LIBRARY_PATH=$PWD/build/media/lib \
  "$python" -m PyInstaller packaging/jamak.spec --noconfirm --workpath build/work --distpath build/dist
app=build/dist/Jamak.app
"$python" packaging/licences.py "$app/Contents" build/collected.json build/media
if [ "${MODEL:-full}" != small ]; then
  mkdir -p "$app/Contents/Frameworks/models"
  cp -Rp build/models/whisper-base "$app/Contents/Frameworks/models/"
fi

# Innermost first; what is added after a signature breaks it.
find "$app" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 \
  | xargs -0 codesign --force --timestamp --options runtime --sign "${SIGN:--}"
codesign --force --timestamp --options runtime --entitlements packaging/macos/entitlements.plist --sign "${SIGN:--}" "$app"
codesign --verify --deep --strict "$app"

mkdir -p dist
image=dist/Jamak-$version-$(uname -m).dmg
hdiutil create -volname Jamak -srcfolder "$app" -ov -format ULFO "$image"
if [ -n "${NOTARY:-}" ]; then
  codesign --sign "$SIGN" "$image"
  xcrun notarytool submit "$image" --keychain-profile "$NOTARY" --wait
  xcrun stapler staple "$image"
fi
"$app/Contents/MacOS/jamak" doctor --self-test
echo "$image"
