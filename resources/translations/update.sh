#!/bin/sh
# Takes new texts of the window into the .ts files (translate them there), and compiles all of them.
set -eu
cd "$(dirname "$0")/../.."
bin="${VENV:-.venv}/bin"
into=resources/translations
sources="app/ui/*.py app/player.py app/wiring.py"
"$bin/pyside6-lupdate" -no-obsolete -locations none -target-language ko $sources -ts "$into/jamak_ko.ts"
"$bin/pyside6-lupdate" -no-obsolete -locations none -pluralonly -target-language en_GB $sources -ts "$into/jamak_en.ts"
for name in jamak_ko jamak_en models_ko; do
    "$bin/pyside6-lrelease" -silent "$into/$name.ts" -qm "$into/$name.qm"
done
