#!/usr/bin/env bash
# Builds FFmpeg and PyAV for the packages: decoders of sound alone, shared libraries, nothing under the GPL.
# Usage: media.sh VENV FOLDER      FOLDER gets python/av and lib/; what is there and of this recipe is kept.
# PyAV's own wheels carry x264 and x265 (packaging/README.md says more).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
folder=$(realpath -m "$2")

ffmpeg_version=8.1.2
ffmpeg_sha256=464beb5e7bf0c311e68b45ae2f04e9cc2af88851abb4082231742a74d97b524c
ffmpeg_urls=("https://ffmpeg.org/releases/ffmpeg-$ffmpeg_version.tar.xz"
  "https://deb.debian.org/debian/pool/main/f/ffmpeg/ffmpeg_$ffmpeg_version.orig.tar.xz"
  "http://deb.debian.org/debian/pool/main/f/ffmpeg/ffmpeg_$ffmpeg_version.orig.tar.xz")
pyav_version=$(sed -n 's/^av==//p' requirements.lock)

recipe=$(cat "$0" <(echo "$pyav_version") <("$venv/bin/python" -VV) | sha256sum | cut -d' ' -f1)
[ "$(cat "$folder/recipe" 2>/dev/null)" = "$recipe" ] && exit 0

work=$folder/work
rm -rf "$folder/python" "$folder/lib" "$folder/recipe" "$work"
mkdir -p "$work" "$folder/sources"

fetch_ffmpeg() {
  local archive=$folder/sources/ffmpeg-$ffmpeg_version.tar.xz url
  is_right() { echo "$ffmpeg_sha256  $archive" | sha256sum --check --status 2>/dev/null; }
  is_right && return
  for url in "${ffmpeg_urls[@]}"; do
    curl --fail --silent --show-error --location --connect-timeout 20 --output "$archive" "$url" && is_right && return
  done
  echo "FFmpeg $ffmpeg_version could not be fetched, or is not what it should be." >&2
  return 1
}

# FFmpeg's list of codecs is in sections; those of sound follow one another, but for some that stand among the pictures.
sound_decoders() {
  printf '%s,' comfortnoise dvaudio eightsvx_exp eightsvx_fib rka s302m speex
  sed -n '\,/\* audio codecs \*/,,\,/\* subtitles \*/,p' libavcodec/allcodecs.c \
    | sed -n 's/^extern const FFCodec ff_\(.*\)_decoder;.*/\1/p' | paste -sd,
}

build_ffmpeg() {
  cd "$work/ffmpeg"
  # PyAV resamples through a filter graph, and reads files through Python: no protocol is needed.
  ./configure --prefix="$work/installed" --enable-shared --disable-static --disable-programs --disable-doc \
    --disable-autodetect --enable-zlib --disable-network --disable-devices --disable-hwaccels \
    --disable-encoders --disable-muxers --disable-protocols --disable-filters \
    --enable-filter=abuffer,abuffersink,aformat,aresample,anull \
    --disable-decoders --enable-decoder="$(sound_decoders)" --disable-debug >configure.txt
  grep -q '^License: LGPL version 2.1 or later$' configure.txt || { echo "FFmpeg would not be LGPL." >&2; return 1; }
  make -j"$(nproc)" >make.txt 2>&1 || { tail -n 30 make.txt >&2; return 1; }
  make install >/dev/null
}

fetch_ffmpeg
mkdir "$work/ffmpeg"
tar -xf "$folder/sources/ffmpeg-$ffmpeg_version.tar.xz" -C "$work/ffmpeg" --strip-components=1
(build_ffmpeg)

PKG_CONFIG_PATH=$work/installed/lib/pkgconfig CFLAGS=-g0 \
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --no-binary av \
  --no-cache-dir --target "$folder/python" "av==$pyav_version"
mkdir "$folder/lib"
cp -d "$work"/installed/lib/*.so.* "$folder/lib/"
rm -rf "$folder/licences"; mkdir "$folder/licences"
echo "$ffmpeg_version" >"$folder/version"
cp "$work/ffmpeg/COPYING.LGPLv2.1" "$work/ffmpeg/LICENSE.md" "$work/ffmpeg/configure.txt" "$folder/licences/"

LD_LIBRARY_PATH=$folder/lib PYTHONPATH=$folder/python "$venv/bin/python" - <<'P'
from av._core import library_meta

assert all(library["license"].startswith("LGPL version 2.1") for library in library_meta.values()), library_meta
P
rm -rf "$work"
echo "$recipe" >"$folder/recipe"
