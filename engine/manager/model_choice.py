"""Which model a job means, and whether it can do what is asked."""

from __future__ import annotations

from engine.adapters import family, read_architectures, resolve_family
from engine.adapters.base import ModelTraits
from engine.manager.fleet import ModelSource
from engine.manager.models import ModelStore
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Options, Task


def choose_model(store: ModelStore, options: Options) -> tuple[ModelSource, ModelTraits]:
    """Return the model of `options` and its traits. Raises FailureError where it cannot do the job."""
    folder = store.resolve(options.model)
    key, _ = resolve_family(read_architectures(folder), folder.name)
    traits = family(key).traits(folder)
    if options.language is not None and options.language not in traits.languages:
        raise FailureError(failure(FailureKind.LANGUAGE_UNKNOWN, folder.name, options.language))
    if options.task is Task.TRANSLATE and not traits.can_translate:
        raise FailureError(failure(FailureKind.TASK_UNSUPPORTED, folder.name))
    return ModelSource(name=options.model, family=key, folder=str(folder)), traits
