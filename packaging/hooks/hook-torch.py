"""Takes of torch what is imported and the libraries it loads; PyInstaller's own hook takes all of it."""

from __future__ import annotations

from pathlib import Path

from PyInstaller.utils.hooks import collect_dynamic_libs, get_package_paths

_FOLDER = Path(get_package_paths("torch")[1])
# Looked for when torch is imported, though nothing of ours uses it.
_MANAGER = [path for path in (_FOLDER / "bin").glob("torch_shm_manager*") if path.is_file()]
# Modules of settings, which read their own source for the comments in it.
_SETTINGS = [path for path in _FOLDER.rglob("*config.py") if b"install_config_module(" in path.read_bytes()]

module_collection_mode = {"torch": "pyz"}
for _path in _SETTINGS:
    module_collection_mode[".".join(("torch", *_path.relative_to(_FOLDER).with_suffix("").parts))] = "pyz+py"
binaries = [
    *collect_dynamic_libs("torch", search_patterns=["*.so", "*.so.*", "*.dll", "*.dylib"]),
    *((str(path), "torch/bin") for path in _MANAGER),
]
bindepend_symlink_suppression = ["**/torch/lib/*.so*"]
