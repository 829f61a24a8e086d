"""What becomes confirmed: append-only, at safe boundaries, and everything in the end, whatever is heard."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.adapters.base import Confirmation, LocalAgreement, PrefixRollback
from engine.manager.confirm import Confirmer, Hypothesis, Piece, Update, confirmer_for, text_of
from engine.manager.live_text import LiveText, Quality
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.events import Confirmed, SegmentDone

TOKEN_SAMPLES = SAMPLE_RATE_HZ // 4
AGREEMENT = LocalAgreement(held_s=0.2, stable_s=0.0, settled_s=60.0)
SETTLING = LocalAgreement(held_s=0.2, stable_s=0.0, settled_s=2.0)
ROLLBACK = PrefixRollback()
POLICIES: list[Confirmation] = [AGREEMENT, SETTLING, ROLLBACK]
TOKENS = (
    " the",
    " cat",
    " sat",
    ",",
    ".",
    "s",
    " don",
    "'t",
    " 자막",
    "이",
    " 켜",
    "字",
    "幕",
    "、",
    "です",
    " 😀",
    "é",
)


def pieces_of(*tokens: str | bytes, first: int = 0, marks: bool = False) -> tuple[Piece, ...]:
    """Return tokens said one after another, a quarter of a second each; with a special one in front."""
    ids: dict[bytes, int] = {}
    said = []
    for index, token in enumerate(tokens):
        text = token.encode() if isinstance(token, str) else token
        start = (first + index) * TOKEN_SAMPLES
        id_ = ids.setdefault(text, hash(text))
        said.append(Piece(id_, text, start, start + TOKEN_SAMPLES, start + TOKEN_SAMPLES // 2, -0.1))
    special = (Piece(-1, b"", first * TOKEN_SAMPLES, first * TOKEN_SAMPLES, 0),) if marks else ()
    return (*special, *said)


def bytes_of(text: str) -> tuple[bytes, ...]:
    """Return the tokens of a model that knows only bytes."""
    return tuple(bytes([byte]) for byte in text.encode())


def heard(pieces: Sequence[Piece], more_s: float = 5.0) -> Hypothesis:
    """Return a hypothesis over audio that goes on for `more_s` behind its last piece."""
    end = pieces[-1].end if pieces else 0
    return Hypothesis(tuple(pieces), end + round(more_s * SAMPLE_RATE_HZ))


def test_what_two_in_a_row_agree_on_is_confirmed() -> None:
    confirmer = confirmer_for(AGREEMENT)
    assert confirmer.update(heard(pieces_of(" the", " cat", " sat"))) == Update(
        (), pieces_of(" the", " cat", " sat")
    )
    update = confirmer.update(heard(pieces_of(" the", " cat", " spoke", " up")))
    assert (update.confirmed_delta, update.tail_text) == (" the cat", " spoke up")
    update = confirmer.update(heard(pieces_of(" the", " cat", " spoke", " up")))
    assert (update.confirmed_delta, update.tail_text) == (" spoke up", "")


def test_what_is_heard_at_the_very_end_of_the_audio_is_not_confirmed_yet() -> None:
    confirmer = confirmer_for(AGREEMENT)
    for _ in range(3):
        update = confirmer.update(heard(pieces_of(" the", " cat"), more_s=0.05))
    assert update.tail_text == " cat"
    assert text_of(confirmer.open) == " the"


def test_what_is_agreed_on_must_have_been_heard_for_a_while() -> None:
    """Two decodings of nearly the same audio make the same mistakes."""
    confirmer = confirmer_for(LocalAgreement(held_s=0.2, stable_s=0.5, settled_s=60.0))
    said = pieces_of(" the", " cat")
    confirmer.update(heard(said[:1], more_s=2.0))
    assert confirmer.update(heard(said, more_s=2.0)).confirmed == ()
    assert confirmer.update(heard(said, more_s=2.4)).confirmed_delta == " the"
    assert confirmer.update(heard(said, more_s=2.6)).confirmed_delta == " cat"


def test_what_the_model_hardly_believes_must_be_older() -> None:
    confirmer = confirmer_for(AGREEMENT)
    doubtful = [Piece(p.id, p.text, p.start, p.end, p.attended, -3.0) for p in pieces_of(" cat")]
    for _ in range(3):
        assert confirmer.update(heard(doubtful, more_s=1.0)).confirmed == ()
    assert confirmer.update(heard(doubtful, more_s=2.0)).confirmed_delta == " cat"


def test_what_lies_far_back_is_confirmed_as_it_was_heard_last() -> None:
    """A reader would wait for ever where decodings never agree."""
    confirmer = confirmer_for(SETTLING)
    assert confirmer.update(heard(pieces_of(" the", " cat", " sat"), more_s=1.5)).confirmed_delta == " the"
    update = confirmer.update(heard(pieces_of(" the", " bat", " spoke"), more_s=1.8))
    assert (update.confirmed_delta, update.tail_text) == (" bat", " spoke")


def test_what_lies_far_back_is_not_cut_inside_a_word() -> None:
    confirmer = confirmer_for(SETTLING)
    update = confirmer.update(heard(pieces_of(" the", " cat", "s", " sat"), more_s=1.5))
    assert (update.confirmed_delta, update.tail_text) == (" the", " cats sat")


def test_marks_do_not_hold_up_the_word_before_them() -> None:
    confirmer = confirmer_for(AGREEMENT)
    confirmer.update(heard(pieces_of(" the", " cat", ".")))
    assert confirmer.update(heard(pieces_of(" the", " cat", ",", " sat"))).confirmed_delta == " the cat"


@pytest.mark.parametrize(
    ("first", "second", "delta"),
    [
        ((" don", "'t"), (" don", "'t", " go"), " don't"),
        ((" don",), (" don", "'t", " go"), ""),
        ((" cat", "s"), (" cat", " sat"), ""),
        ((" in", "ter", "nal"), (" in", "ter", "nation"), ""),
        (("字", "幕", "が"), ("字", "幕", "は"), "字幕"),
        ((" 자", "막", "이"), (" 자", "막", "은"), ""),
        ((" 자", "막", " 켜"), (" 자", "막", " 꺼"), " 자막"),
        (("👍", "🏽"), ("👍", " ok"), ""),
        (("e", "\u0301"), ("e", " x"), ""),
        ((" 3", ".", "5"), (" 3", ".", "1"), ""),
    ],
)
def test_nothing_is_cut_inside_what_a_reader_takes_for_one(
    first: tuple[str, ...], second: tuple[str, ...], delta: str
) -> None:
    """Words where there are spaces, as in Korean; else characters; never half a cluster. (sglang#35295)"""
    confirmer = confirmer_for(AGREEMENT)
    confirmer.update(heard(pieces_of(*first)))
    assert confirmer.update(heard(pieces_of(*second))).confirmed_delta == delta


def test_bytes_of_a_character_stay_together() -> None:
    """Tokens may be parts of characters. (sglang#31598, WhisperLiveKit#291)"""
    confirmer = confirmer_for(AGREEMENT)
    confirmer.update(heard(pieces_of(*bytes_of("字幕"))))
    # 幕 and 幚 begin with the same two bytes.
    update = confirmer.update(heard(pieces_of(*bytes_of("字幚"))))
    assert update.confirmed_delta == "字"
    assert update.tail_text == "幚"


def test_a_contradiction_is_counted_and_never_told_twice() -> None:
    """Confirmed text stays, what follows it goes on. (SGLang sends the transcript again)"""
    for policy in POLICIES:
        confirmer = confirmer_for(policy)
        said = pieces_of(" the", " cat", " sat", " on", " a", " mat", " all", " day", " long", " it", " is")
        for _ in range(3):
            confirmer.update(heard(said))
        before = text_of(confirmer.open)
        other = (*pieces_of(" a", " dog"), *said[2:], *pieces_of(" so", first=11))
        update = confirmer.finish(heard(other))
        assert confirmer.num_revisions == 1
        assert before + update.confirmed_delta == text_of(said) + " so"


def test_what_is_said_again_behind_a_contradiction_is_left_out() -> None:
    confirmer = confirmer_for(AGREEMENT)
    said = pieces_of(" we", " go", " home")
    confirmer.update(heard(said))
    confirmer.update(heard(said))
    late = pieces_of(" go", " home", " now", first=4)
    assert confirmer.finish(heard((*pieces_of(" he"), *late))).confirmed_delta == " now"


def test_chunk_wise_models_confirm_all_but_their_last_tokens() -> None:
    """The first seconds confirm nothing: they are often nonsense. (sglang#22848)"""
    confirmer = confirmer_for(ROLLBACK)
    words = [f" w{index}" for index in range(20)]
    assert confirmer.update(heard(pieces_of(" Uh", " huh."), more_s=1.0)).confirmed == ()
    assert confirmer.update(heard(pieces_of(*words[:8]), more_s=1.0)).confirmed == ()
    assert confirmer.update(heard(pieces_of(*words[:12]))).confirmed_delta == "".join(words[:7])
    assert confirmer.update(heard(pieces_of(*words[:14]))).confirmed_delta == "".join(words[7:9])
    assert confirmer.finish(heard(pieces_of(*words))).confirmed_delta == "".join(words[9:])


def test_rollback_widens_until_it_is_safe() -> None:
    confirmer = confirmer_for(ROLLBACK)
    tokens = (*bytes_of("字幕を"), *bytes_of("見る"))
    # Five tokens back is inside of 見.
    assert confirmer.update(heard(pieces_of(*tokens))).confirmed_delta == "字幕を"


def test_an_anchored_window_keeps_what_it_is_told_to() -> None:
    confirmer = confirmer_for(AGREEMENT)
    said = pieces_of(" the", " cat", " sat", marks=True)
    confirmer.update(heard(said))
    confirmer.update(heard(said))
    assert [piece.is_special for piece in confirmer.open] == [True, False, False, False]
    confirmer.anchor(2)
    assert text_of(confirmer.open) == " cat sat"
    assert confirmer.update(heard(pieces_of(" cat", " sat", " up", first=1))).tail_text == " up"
    confirmer.anchor(0)
    assert confirmer.open == confirmer.tail == ()


def test_nothing_heard_confirms_nothing() -> None:
    for policy in POLICIES:
        confirmer = confirmer_for(policy)
        assert confirmer.finish(None) == Update((), ())
        assert confirmer.finish(heard(())) == Update((), ())


token_lists = st.lists(st.sampled_from(TOKENS), max_size=14)
byte_texts = st.text("字幕が見える자막켜이 cat's,.😀é", max_size=12).map(bytes_of)
any_tokens = st.one_of(token_lists.map(tuple), byte_texts)


def told_by(confirmer: Confirmer, hypotheses: Sequence[Hypothesis]) -> str:
    """Confirm hypotheses, finish with the last, and check the story that is told of it."""
    text = LiveText("job", 0)
    events = []
    for hypothesis in hypotheses:
        update = confirmer.update(hypothesis)
        events += text.confirm(update.confirmed, Quality())
    events += text.confirm(confirmer.finish(hypotheses[-1]).confirmed, Quality())
    events += text.end_segment()
    deltas = "".join(event.delta for event in events if isinstance(event, Confirmed))
    segments = [event.segment for event in events if isinstance(event, SegmentDone)]
    assert deltas == "".join(segment.text for segment in segments)
    assert all(segment.text == "".join(word.text for word in segment.words) for segment in segments)
    assert all(a.end <= b.start for a, b in pairwise(segments))
    return deltas


@pytest.mark.parametrize("policy", POLICIES)
@given(hypotheses=st.lists(any_tokens, min_size=1, max_size=6))
def test_whatever_is_revised_confirmed_text_only_grows_and_segments_hold_all_of_it(
    policy: Confirmation, hypotheses: list[tuple[str, ...] | tuple[bytes, ...]]
) -> None:
    confirmer = confirmer_for(policy)
    told = told_by(confirmer, [heard(pieces_of(*tokens, marks=True)) for tokens in hypotheses])
    assert told == text_of(confirmer.open)


@pytest.mark.parametrize("policy", POLICIES)
@given(tokens=any_tokens, cuts=st.lists(st.integers(0, 14), max_size=5))
def test_what_only_grows_is_told_whole(
    policy: Confirmation, tokens: tuple[str, ...] | tuple[bytes, ...], cuts: list[int]
) -> None:
    whole = pieces_of(*tokens)
    parts = [heard(whole[:cut]) for cut in sorted(cuts)]
    confirmer = confirmer_for(policy)
    assert told_by(confirmer, [*parts, heard(whole)]) == text_of(whole)
    assert confirmer.num_revisions == 0


@given(texts=st.lists(st.text("字が자막 cat😀é", max_size=8), min_size=1, max_size=5))
def test_no_delta_holds_half_a_character(texts: list[str]) -> None:
    confirmer = confirmer_for(AGREEMENT)
    for text in texts:
        assert "\ufffd" not in confirmer.update(heard(pieces_of(*bytes_of(text)))).confirmed_delta
