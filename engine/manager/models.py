"""The folder of models: which of the known ones are here and whole, and where a job finds its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from engine.adapters import family, read_architectures, resolve_family
from engine.adapters.base import ModelTraits
from engine.adapters.catalog import CATALOG, CatalogEntry, ModelFile
from engine.manager.capacity import needed_bytes
from engine.manager.checksums import (
    Marker,
    describe,
    digest_file,
    read_marker,
    write_marker,
)
from engine.manager.traits import traits_of
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import ModelInfo, ModelPhase

FETCHING_PREFIX: Final = ".fetching-"
"""Of the folder beside a model's in which it is put together."""


class ModelStore:
    """Models below one folder, each in a folder named by its catalogue key. Any thread may call it.

    `shipped` has models that came with the program: they are read where the user has none of that
    name, and never written to.
    """

    def __init__(
        self, folder: Path, catalog: Sequence[CatalogEntry] = CATALOG, *, shipped: Path | None = None
    ) -> None:
        self.folder = folder
        self._shipped = shipped
        self._catalog = {model.key: model for model in catalog}

    def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the catalogue, then what else lies in the folder; quick: reads names, sizes and times."""
        known = [self._describe(model) for model in self._catalog.values()]
        return (*known, *map(_describe_folder, self._other_folders()))

    def entry(self, key: str) -> CatalogEntry | None:
        """Return the catalogue's model of that name."""
        return self._catalog.get(key)

    def resolve(self, model: str) -> Path:
        """Return the folder of a catalogue key or of an absolute path.

        Raises FailureError (model_unknown, model_missing).
        """
        known = self.entry(model)
        if known is not None:
            if self.phase(known) is not ModelPhase.INSTALLED:
                raise FailureError(failure(FailureKind.MODEL_MISSING, known.name, str(self.folder / model)))
            return self._place(known)
        path = Path(model).expanduser()
        if not path.is_absolute():
            raise FailureError(failure(FailureKind.MODEL_UNKNOWN, model))
        if not (path / "config.json").is_file():
            raise FailureError(failure(FailureKind.MODEL_MISSING, path.name or model, model))
        return path

    def companion(self, family: str) -> Path | None:
        """Return where the network lies that helps models of `family`: one of the user's, or the catalogue's,
        which need not be there yet; None where there is no such thing."""
        known = next((model for model in self._catalog.values() if model.companion_of == family), None)
        if known is not None and self.phase(known) is ModelPhase.INSTALLED:
            return self._place(known)
        own = next((path for path in self._other_folders() if _companion_of(path) == family), None)
        return own or (self._place(known) if known is not None else None)

    def phase(self, model: CatalogEntry) -> ModelPhase:
        """Return whether a catalogue model is here: by names and sizes, and by what the last check found."""
        if _is_installed(self._place(model), model):
            return ModelPhase.INSTALLED
        is_begun = (self.folder / model.key).is_dir() or self.staging(model).is_dir()
        return ModelPhase.PARTIAL if is_begun else ModelPhase.MISSING

    def is_checked(self, model: CatalogEntry) -> bool:
        """Return whether every file is still as it was when its digest was right; reads none of them."""
        folder = self._place(model)
        marker = read_marker(folder)
        try:
            return not marker.is_broken and all(
                (checked := marker.files.get(file.name)) is not None
                and checked.digest == (file.digest or checked.digest)
                and checked == describe(folder / file.name, checked.digest)
                for file in model.files
            )
        except OSError:
            return False

    def staging(self, model: CatalogEntry) -> Path:
        """Return the folder in which a download is put together."""
        return self.folder / f"{FETCHING_PREFIX}{model.key}"

    def verify(self, model: str, on_progress: Callable[[int, int], None]) -> None:
        """Hash every file of an installed model and remember the outcome.

        `on_progress(done_bytes, total_bytes)` may raise to stop it. Raises FailureError (model_unknown,
        model_missing, hash_mismatch).
        """
        known = self.entry(model)
        if known is None:
            read_architectures(self.resolve(model))
            return
        folder = self.resolve(model)
        digests = {name: checked.digest for name, checked in read_marker(folder).files.items()}
        try:
            is_ours = folder == self.folder / known.key
            wrong = check_files(folder, known.files, digests, on_progress, remembers=is_ours)
        except OSError as error:
            raise FailureError(failure(FailureKind.MODEL_BROKEN, known.name, str(error))) from error
        if wrong:
            raise FailureError(failure(FailureKind.HASH_MISMATCH, known.name, ", ".join(wrong)))

    def remove(self, model: str) -> None:
        """Delete a catalogue model and what was fetched of it; never a folder of the user's.

        Raises FailureError (model_unknown, model_shipped, not_readable).
        """
        known = self.entry(model)
        if known is None:
            raise FailureError(failure(FailureKind.MODEL_UNKNOWN, model))
        if self._is_shipped(known):
            raise FailureError(failure(FailureKind.MODEL_SHIPPED, known.name))
        for folder in (self.staging(known), self.folder / known.key):
            try:
                discard(folder)
            except OSError as error:
                raise FailureError(failure(FailureKind.NOT_READABLE, known.name, str(error))) from error

    def free_bytes(self) -> int:
        """Return the room left where downloads are kept."""
        place = self.folder
        while not place.exists() and place != place.parent:
            place = place.parent
        return shutil.disk_usage(place).free

    def _place(self, model: CatalogEntry) -> Path:
        """Return the folder that counts: the user's own, unless only the program's has the model whole."""
        own = self.folder / model.key
        if self._shipped is None or _is_installed(own, model):
            return own
        shipped = self._shipped / model.key
        return shipped if _is_installed(shipped, model) else own

    def _is_shipped(self, model: CatalogEntry) -> bool:
        return self._place(model) != self.folder / model.key

    def _other_folders(self) -> list[Path]:
        try:
            folders = sorted(path for path in self.folder.iterdir() if (path / "config.json").is_file())
        except OSError:
            return []
        return [path for path in folders if not path.name.startswith(".") and path.name not in self._catalog]

    def _describe(self, model: CatalogEntry) -> ModelInfo:
        phase = self.phase(model)
        return ModelInfo(
            key=model.key,
            name=model.name,
            family=model.family,
            size_bytes=model.download_bytes,
            languages=model.languages,
            can_translate=model.can_translate,
            phase=phase,
            folder=str(self._place(model)) if phase is ModelPhase.INSTALLED else None,
            note=model.note,
            is_runnable=model.companion_of is None and _is_registered(model.family),
            companion_of=model.companion_of,
            memory_bytes=needed_bytes(model.num_parameters, is_companion=model.companion_of is not None),
            is_removable=not self._is_shipped(model),
        )


def check_files(
    folder: Path,
    files: tuple[ModelFile, ...],
    digests: dict[str, str],
    on_progress: Callable[[int, int], None],
    *,
    remembers: bool = True,
) -> list[str]:
    """Hash `files` and, if it `remembers`, note in the folder what was found; return the wrong ones' names.

    The catalogue's digest counts, else the one in `digests` (what the hub said); a file with neither
    only has to be there. Raises OSError.
    """
    total_bytes = sum((folder / file.name).stat().st_size for file in files)
    done_bytes = 0

    def on_read(num_bytes: int) -> None:
        nonlocal done_bytes
        done_bytes += num_bytes
        on_progress(done_bytes, total_bytes)

    wrong = []
    checked = {}
    for file in files:
        wanted = file.digest or digests.get(file.name)
        found = digest_file(folder / file.name, wanted or "", on_read)
        if wanted not in (None, found):
            wrong.append(file.name)
        checked[file.name] = describe(folder / file.name, found)
    if remembers:
        write_marker(folder, Marker(files={} if wrong else checked, is_broken=bool(wrong)))
    return wrong


def discard(folder: Path) -> None:
    """Delete `folder` if it is there; a link to one is only unlinked. Raises OSError."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _is_installed(folder: Path, model: CatalogEntry) -> bool:
    return all(_is_there(folder, file) for file in model.files) and not read_marker(folder).is_broken


def _is_there(folder: Path, file: ModelFile) -> bool:
    try:
        size_bytes = (folder / file.name).stat().st_size
    except OSError:
        return False
    return file.size_bytes in (None, size_bytes)


def _is_registered(architecture: str) -> bool:
    try:
        family(architecture)
    except KeyError:
        return False
    return True


def _companion_of(folder: Path) -> str | None:
    """Return the family that a folder's model helps; None where it is none that helps."""
    try:
        traits_of(folder)
    except FailureError as error:
        if error.failure.kind is FailureKind.MODEL_IS_ALIGNER:
            return resolve_family(read_architectures(folder), folder.name)[0]
    return None


def _describe_folder(folder: Path) -> ModelInfo:
    """Describe a model somebody put into the models folder; one that cannot be read is not runnable."""
    size_bytes = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    traits: ModelTraits | None = None
    note = ""
    try:
        _, traits = traits_of(folder)
    except FailureError as error:
        note = error.failure.message
    return ModelInfo(
        key=str(folder),
        name=folder.name,
        family=traits.family if traits else "",
        size_bytes=size_bytes,
        languages=traits.languages if traits else (),
        can_translate=traits is not None and traits.can_translate,
        phase=ModelPhase.INSTALLED,
        folder=str(folder),
        note=note,
        is_runnable=traits is not None,
        companion_of=_companion_of(folder) if traits is None else None,
    )
