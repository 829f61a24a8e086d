"""What a trace leaves out."""

from __future__ import annotations

from engine.traces import anonymous_trace, without_quoted


def test_what_stands_in_quotes_is_left_out() -> None:
    assert without_quoted("""KeyError: 'my words' and "more" “한국어”""") == "KeyError: … and … …"


def test_a_trace_names_places_and_types_and_no_values() -> None:
    try:
        try:
            raise KeyError("spoken words")
        except KeyError as error:
            raise ValueError("it was 'a secret' of 3 bytes") from error
    except ValueError as error:
        trace = anonymous_trace(error)
    assert "test_traces.py" in trace
    assert "KeyError: …" in trace
    assert "ValueError: it was … of 3 bytes" in trace
    assert "spoken words" not in trace.replace('raise KeyError("spoken words")', "")
