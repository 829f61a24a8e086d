"""In best mode a chunk says what a plain and slow beam search says, alone and in any company."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.adapters.base import Admission, Decode, OutOfMemory, RuntimeOptions
from engine.adapters.whisper.adapter import NUM_BEAMS, WhisperAdapter
from engine.adapters.whisper.features import log_mel
from engine.adapters.whisper.guards import find_loop
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.model import Whisper
from engine.adapters.whisper.prompt import build_prompt
from engine.adapters.whisper.rules import TokenRules, allowed_next
from engine.adapters.whisper.vocabulary import Vocabulary, read_vocabulary
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, FinishReason, RequestKey
from engine.protocol.transcript import Mode
from tests.helpers.checkpoints import recorded_speech, write_large_v3_shaped, write_large_v3_tokenizer

pytestmark = [pytest.mark.weights, pytest.mark.slow]

SPEECH = recorded_speech()
PIECES = (SPEECH, SPEECH[20_000:90_000], SPEECH[60_000:140_000])
BEST = DecodingOptions(language="en", mode=Mode.BEST)
FAST = DecodingOptions(language="en")


class PlainSearch:
    """The reference's algorithm without any cache: every text is read anew from its first id."""

    def __init__(self, network: Whisper, vocabulary: Vocabulary, pcm: np.ndarray) -> None:
        self._network = network
        self._vocabulary = vocabulary
        config = network.config
        self._rules = TokenRules(vocabulary, config.suppress_ids, config.suppress_ids_begin)
        self._prompt = build_prompt(vocabulary, BEST, "en")
        self._num_steps = math.ceil(len(pcm) / 320)
        self._cache = network.new_cache(1)
        self._rows = self._cache.allocate(1)
        network.listen(self._cache, self._rows, network.encode(log_mel([pcm], config.dims.n_mels)))

    def answer(self, max_ids: int) -> tuple[list[int], float]:
        """Return the answer, and its log-probability with that of its end."""
        end = self._vocabulary.special.end
        active: dict[tuple[int, ...], float] = {(): 0.0}
        ended: dict[tuple[int, ...], float] = {}
        for _ in range(max_ids):
            scores = {
                (*text, id_): total + logprob
                for text, total in active.items()
                for id_, logprob in self._choices(text)
            }
            active = {}
            for text in sorted(scores, key=lambda text: -scores[text]):
                if text[-1] == end and len(ended) < NUM_BEAMS:
                    ended[text[:-1]] = scores[text]
                if text[-1] != end and not self._is_loop(text):
                    active[text] = scores[text]
                if len(active) == NUM_BEAMS:
                    break
            if len(ended) >= NUM_BEAMS:
                break
        texts = ended or active
        best = max(texts, key=lambda text: texts[text] / len(text))
        return list(best), texts[best]

    def _is_loop(self, text: Sequence[int]) -> bool:
        words = [id_ for id_ in text if id_ < self._vocabulary.special.end]
        return text[-1] < self._vocabulary.special.end and find_loop(words) is not None

    def _choices(self, ids: Sequence[int]) -> list[tuple[int, float]]:
        [row] = self._rows
        self._cache.set_length(row, 0)
        logits = self._network.prefill(self._cache, [row], [(*self._prompt, *ids)]).logits.clone()
        allowed = allowed_next(ids, self._num_steps, self._vocabulary)
        best = self._rules.apply(logits, [allowed])[0].log_softmax(-1).topk(NUM_BEAMS + 1)
        return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def admission(
    pcm: np.ndarray, options: DecodingOptions = BEST, *, index: int = 0, attempt: int = 0
) -> Admission:
    key = RequestKey("job", index)
    data = pcm.astype("<f4").tobytes()
    return Admission(Chunk(key=key, kind=ChunkKind.FILE, start_sample=0, pcm=data, options=options), attempt)


def finish(adapter: WhisperAdapter, decodes: Sequence[Decode]) -> None:
    """Step until all have ended, and prove that nothing that was shown is taken back."""
    shown: dict[Decode, list[int]] = {decode: [] for decode in decodes}
    while running := [decode for decode in decodes if decode.outcome is None]:
        adapter.step(running)
        for decode in running:
            assert decode.ids[: len(shown[decode])] == shown[decode]
            assert len(decode.logprobs) == len(decode.ids)
            shown[decode] = list(decode.ids)
    adapter.release(decodes)


def answers(adapter: WhisperAdapter, *admissions: Admission) -> list[Decode]:
    decodes = adapter.admit(admissions)
    finish(adapter, decodes)
    return decodes


def finished(decode: Decode) -> Finished:
    assert isinstance(decode.outcome, Finished)
    return decode.outcome


@pytest.fixture(scope="module")
def made_up(whisper_base: Path, tmp_path_factory: pytest.TempPathFactory) -> WhisperAdapter:
    """A small network with random weights, in float32."""
    folder = write_large_v3_shaped(tmp_path_factory.mktemp("models") / "random")
    write_large_v3_tokenizer(whisper_base, folder)
    network = load_whisper(folder, RuntimeOptions(device="cpu", dtype="float32", num_threads=1))
    return WhisperAdapter(network, read_vocabulary(folder), "random", 3 * NUM_BEAMS)


@pytest.fixture(scope="module")
def base(whisper_base: Path) -> WhisperAdapter:
    network = load_whisper(whisper_base, RuntimeOptions(device="cpu", num_threads=1))
    return WhisperAdapter(network, read_vocabulary(whisper_base), "base", 3 * NUM_BEAMS + 1)


def test_random_weights_say_what_a_plain_search_says(made_up: WhisperAdapter) -> None:
    for pcm in (SPEECH[:16_000], SPEECH[40_000:52_000], SPEECH[100_000:120_000]):
        # The attempt behind the last one is accepted whatever the guards say.
        [decode] = answers(made_up, admission(pcm, attempt=1))
        plain = PlainSearch(made_up._network, made_up._vocabulary, pcm)
        ids, total = plain.answer(max_ids=32 + math.ceil(len(pcm) / 1000))
        assert decode.ids == ids
        assert finished(decode).avg_logprob == pytest.approx(total / (len(ids) + 1), abs=1e-4)


def test_a_recorded_voice_is_heard_as_by_a_plain_search(base: WhisperAdapter) -> None:
    pcm = SPEECH[20_000:90_000]
    [decode] = answers(base, admission(pcm))
    ids, total = PlainSearch(base._network, base._vocabulary, pcm).answer(max_ids=100)
    assert decode.ids == ids
    assert finished(decode).reason is FinishReason.STOP
    # Half-precision attention rounds otherwise where several ids are read together.
    assert finished(decode).avg_logprob == pytest.approx(total / (len(ids) + 1), abs=2e-2)


def test_beams_say_the_same_alone_among_others_and_beside_single_rows(base: WhisperAdapter) -> None:
    lonely = [answers(base, admission(pcm, index=index))[0] for index, pcm in enumerate(PIECES)]
    single = answers(base, admission(PIECES[1], FAST))[0]
    together = base.admit([admission(PIECES[2], index=2), admission(PIECES[1], FAST, index=3)])
    for _ in range(3):
        base.step(together)
    late = base.admit([admission(PIECES[0]), admission(PIECES[1], index=1)])
    finish(base, [*late, *together])
    for decode, expected in zip([*late, *together], [lonely[0], lonely[1], lonely[2], single], strict=True):
        assert (decode.ids, decode.logprobs) == (expected.ids, expected.logprobs)
        # What was encoded before is counted, and of course depends on the company.
        outcomes = [
            msgspec.structs.replace(finished(item), num_windows_known=0) for item in (decode, expected)
        ]
        assert outcomes[0] == outcomes[1]


def test_the_kept_answer_is_likelier_than_the_greedy_one(base: WhisperAdapter) -> None:
    for pcm in PIECES:
        [best], [fast] = answers(base, admission(pcm)), answers(base, admission(pcm, FAST))
        assert finished(best).avg_logprob >= finished(fast).avg_logprob - 1e-6


def test_words_of_beams_have_the_times_of_a_single_row(base: WhisperAdapter) -> None:
    [best, fast] = answers(
        base,
        admission(SPEECH, msgspec.structs.replace(BEST, word_timestamps=True)),
        admission(SPEECH, msgspec.structs.replace(FAST, word_timestamps=True)),
    )
    assert len(finished(best).token_times) == len(best.ids)
    alike = [
        (ours, theirs)
        for one, ours, other, theirs in zip(
            best.ids, finished(best).token_times, fast.ids, finished(fast).token_times, strict=False
        )
        if one == other
    ]
    assert len(alike) > 10
    assert np.median([abs(ours[0] - theirs[0]) for ours, theirs in alike]) <= 0.04


def test_closing_live_text_goes_on_behind_its_prefix_and_knows_where_it_was_heard(
    base: WhisperAdapter,
) -> None:
    [whole] = answers(base, admission(SPEECH))
    chunk = msgspec.structs.replace(
        admission(SPEECH).chunk,
        kind=ChunkKind.CLOSING,
        prefix_ids=tuple(whole.ids[:9]),
        draft_ids=tuple(whole.ids[9:20]),
    )
    [rest] = base.admit([Admission(chunk)])
    base.step([rest])
    assert rest.ids == [], "live text goes out with where it was heard"
    finish(base, [rest])
    assert rest.ids[-6:] == whole.ids[-6:]
    assert len(rest.attended_s) == len(rest.ids)
    assert rest.attended_s[-2] > rest.attended_s[1]


def test_a_beam_takes_its_rows_and_gives_them_back(base: WhisperAdapter) -> None:
    chunk = admission(PIECES[1]).chunk
    assert base.rows(chunk) == NUM_BEAMS
    assert base.rows(msgspec.structs.replace(chunk, options=FAST)) == 1
    free = base._cache.num_free
    [decode] = base.admit([admission(PIECES[1])])
    assert base._cache.num_free == free - NUM_BEAMS
    with pytest.raises(OutOfMemory):
        base.admit([admission(PIECES[1], index=index) for index in range(1, 4)])
    assert base._cache.num_free == free - NUM_BEAMS
    base.release([decode])
    assert base._cache.num_free == free


def test_a_retry_is_drawn_by_dice_in_one_row(base: WhisperAdapter) -> None:
    options = msgspec.structs.replace(BEST, temperatures=(0.0, 0.4))
    free = base._cache.num_free
    [decode] = base.admit([admission(PIECES[1], options, attempt=1)])
    assert base._cache.num_free == free - 1
    finish(base, [decode])
    assert finished(decode).temperature == 0.4
