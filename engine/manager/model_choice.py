"""Which model a job means, and whether it can do what is asked."""

from __future__ import annotations

from engine.adapters.base import LocalAgreement, ModelTraits
from engine.languages import LANGUAGE_CODES
from engine.manager.models import ModelStore
from engine.manager.served_model import ModelSource
from engine.manager.traits import traits_of
from engine.protocol.elsewhere import is_elsewhere, parse_elsewhere
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Options, Task

ELSEWHERE = ModelTraits(
    family="remote",
    languages=LANGUAGE_CODES,
    can_translate=True,
    # What every server takes; SGLang and vLLM would cut longer ones at a guess.
    max_chunk_s=30.0,
    # Each decode is an upload, and its words are timed less exactly than by a model of ours.
    confirmation=LocalAgreement(pace_s=1.0, stable_s=0.8, held_s=0.5, settled_s=4.0),
)
"""What is taken for granted of a model on a server; where it is wrong, the server says so."""


def choose_model(store: ModelStore, options: Options) -> tuple[ModelSource, ModelTraits]:
    """Return the model of `options` and its traits. Raises FailureError where it cannot do the job."""
    if is_elsewhere(options.model):
        server = parse_elsewhere(options.model)
        return ModelSource(name=options.model, family=ELSEWHERE.family, folder=server.key), ELSEWHERE
    folder = store.resolve(options.model)
    key, traits = traits_of(folder)
    if options.language is not None and options.language not in traits.languages:
        raise FailureError(failure(FailureKind.LANGUAGE_UNKNOWN, folder.name, options.language))
    if options.task is Task.TRANSLATE and not traits.can_translate:
        raise FailureError(failure(FailureKind.TASK_UNSUPPORTED, folder.name))
    companion = store.companion(key)
    source = ModelSource(
        name=options.model,
        family=key,
        folder=str(folder),
        companion_folder=str(companion) if companion else None,
    )
    return source, traits
