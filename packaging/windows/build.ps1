# Builds Jamak for Windows: one folder, and an installer of it. NOT TRIED YET: written from the tools' manuals.
#
# Needs Python 3.11 or newer from python.org (64 bit) and Inno Setup 6 (https://jrsoftware.org/isinfo.php).
# From the top of a clone, in PowerShell:
#
#   powershell -ExecutionPolicy Bypass -File packaging\windows\build.ps1 [-Model small]
#
# FFmpeg without GPL parts: -Media names a folder with `python\av` and `lib\*.dll`, as packaging/media.sh makes it
# under MSYS2 (pacman -S base-devel mingw-w64-x86_64-toolchain nasm). Without it PyAV's own wheel is taken, which has
# GPL parts in it: such a build is for trying out and must not be given to others under the MIT licence.
param(
    [ValidateSet("full", "small")] [string] $Model = "full",
    [string] $Media = "",
    [string] $SignTool = ""
)
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")

$venv = "build\venv"
$python = "$venv\Scripts\python.exe"
if (-not (Test-Path $python)) { py -3 -m venv $venv }
Get-Content requirements.lock | Where-Object { $_ -notmatch "^pulsectl" } | Set-Content build\requirements.txt
& $python -m pip install -q -r build\requirements.txt
& $python -m pip install -q --no-deps --editable .
& $python -m pip install -q --target build\tools -r packaging\requirements.txt

$env:QT_QPA_PLATFORM = "offscreen"
& $python packaging\icons.py build\icons
Remove-Item Env:QT_QPA_PLATFORM

$path = (Resolve-Path build\tools).Path
$mediaArgument = "-"
if ($Media) {
    $path = "$Media\python;$path"
    $env:PATH = "$Media\lib;$env:PATH"
    $mediaArgument = $Media
}
$env:PYTHONPATH = $path
& $python -m PyInstaller packaging\jamak.spec --noconfirm --workpath build\work --distpath build\dist
if ($LASTEXITCODE) { throw "PyInstaller failed" }
$env:PYTHONPATH = ""
& $python packaging\licences.py build\dist\jamak build\collected.json $mediaArgument
if ($LASTEXITCODE) { throw "the licences are not in order" }

if ($Model -eq "full") {
    $env:JAMAK_DATA_DIR = (Resolve-Path build).Path
    & $python -m engine.manager.downloads whisper-base
    New-Item -Force -ItemType Directory build\dist\jamak\_internal\models | Out-Null
    Copy-Item -Recurse -Force build\models\whisper-base build\dist\jamak\_internal\models\
    Remove-Item Env:JAMAK_DATA_DIR
}

# The window's program has no console; this one has, for scripts and for this test.
& build\dist\jamak\jamak-cli.exe doctor --self-test
if ($LASTEXITCODE -and $Model -eq "full") { throw "the self-test failed" }

if ($SignTool) { & $SignTool build\dist\jamak\jamak.exe; & $SignTool build\dist\jamak\jamak-cli.exe }
$version = (Select-String -Path pyproject.toml -Pattern '^version = "(.*)"').Matches[0].Groups[1].Value
& "${env:ProgramFiles(x86)}\Inno Setup 6\ISCC.exe" "/DVersion=$version" "/DKind=$Model" packaging\windows\jamak.iss
