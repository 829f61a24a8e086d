"""Our network is the reference's to the last digits that count, and rows do not disturb one another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.adapters.base import RuntimeOptions
from engine.adapters.whisper.features import log_mel
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.model import Whisper
from engine.protocol.failures import FailureError, FailureKind
from tests.helpers.checkpoints import (
    ctranslate2_variables,
    recorded_speech,
    reference_network,
    write_ctranslate2_folder,
    write_large_v3_shaped,
)

RecordProperty = Callable[[str, object], None]
CPU = RuntimeOptions(device="cpu", dtype="float32", num_threads=1)
PROMPTS = ([50_258, 50_259, 50_359, 50_363], [50_257, 440, 2_221, 11, 50_258, 50_259, 50_359], [50_257])


@pytest.fixture(scope="module")
def made_up_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_large_v3_shaped(tmp_path_factory.mktemp("models") / "large-v3-shaped", num_layers=3)


@pytest.fixture(scope="module")
def network(made_up_folder: Path) -> Whisper:
    return load_whisper(made_up_folder, CPU)


@pytest.fixture(scope="module")
def states(network: Whisper) -> Tensor:
    """Return what the network hears in three different pieces of speech."""
    speech = recorded_speech()
    return network.encode(
        log_mel([speech, speech[20_000:90_000], speech[::-1].copy()], network.config.dims.n_mels)
    )


def assert_equals_reference(folder: Path, record_property: RecordProperty) -> None:
    network = load_whisper(folder, CPU)
    dims = network.config.dims
    reference = reference_network(folder, dims)
    speech = recorded_speech()
    mel = log_mel([speech, speech[30_000:], speech[:50_000]], dims.n_mels)
    states = network.encode(mel)
    with torch.no_grad():
        reference_states = reference.model.encoder(mel).last_hidden_state
    state_difference = (states - reference_states).abs().max().item()

    cache = network.new_cache(3)
    rows = cache.allocate(3)
    network.listen(cache, rows, states)
    tokens = [list(prompt) for prompt in PROMPTS]
    everywhere = [range(len(prompt)) for prompt in PROMPTS]
    prompt_logits = network.prefill(cache, rows, tokens, logits_at=everywhere).logits
    logits = list(prompt_logits.split([len(prompt) for prompt in PROMPTS]))
    for _ in range(12):
        chosen = [int(of_row[-1].argmax()) for of_row in logits]
        for row, of_row in enumerate(network.step(cache, rows, chosen).logits):
            tokens[row].append(chosen[row])
            logits[row] = torch.cat([logits[row], of_row[None]])
    difference = max(
        (ours - reference_logits(reference, of_row, ids)).abs().max().item()
        for ours, of_row, ids in zip(logits, reference_states, tokens, strict=True)
    )

    record_property("max_state_difference", state_difference)
    record_property("max_logit_difference", difference)
    print(f"{folder.name}: largest difference of states {state_difference:.1e}, of logits {difference:.1e}")
    assert state_difference < 1e-3
    assert difference < 1e-3


def reference_logits(reference: torch.nn.Module, states: Tensor, tokens: Sequence[int]) -> Tensor:
    with torch.no_grad():
        ids = torch.tensor([list(tokens)])
        output = reference(encoder_outputs=(states[None],), decoder_input_ids=ids, use_cache=False)
    logits: Tensor = output.logits[0]
    return logits


@pytest.mark.weights
def test_base_equals_the_reference(whisper_base: Path, record_property: RecordProperty) -> None:
    assert_equals_reference(whisper_base, record_property)


@pytest.mark.weights
def test_tiny_en_equals_the_reference(whisper_tiny_en: Path, record_property: RecordProperty) -> None:
    assert_equals_reference(whisper_tiny_en, record_property)


def test_a_network_shaped_like_large_v3_equals_the_reference(
    made_up_folder: Path, record_property: RecordProperty
) -> None:
    assert_equals_reference(made_up_folder, record_property)


def test_the_same_weights_from_ctranslate2_give_the_same_numbers(
    made_up_folder: Path, network: Whisper, states: Tensor, tmp_path: Path
) -> None:
    folder = write_ctranslate2_folder(tmp_path / "ctranslate2", ctranslate2_variables(made_up_folder))
    other = load_whisper(folder, CPU)
    assert torch.equal(alone(other, states[0], PROMPTS[0], 3), alone(network, states[0], PROMPTS[0], 3))


def alone(network: Whisper, states: Tensor, prompt: Sequence[int], num_steps: int) -> Tensor:
    """Return the logits, (1 + steps, vocabulary), of a row that decodes greedily with nobody beside it."""
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, states[None])
    logits = [network.prefill(cache, rows, [prompt]).logits]
    for _ in range(num_steps):
        logits.append(network.step(cache, rows, [int(logits[-1].argmax())]).logits)
    return torch.cat(logits)


def in_company(network: Whisper, states: Tensor, num_rows: int = 11) -> list[Tensor]:
    """Decode rows that join one or two at a time, leave early, and pass in any order.

    Returns each row's logits, to be compared with `alone`.
    """
    cache = network.new_cache(6)
    running: dict[int, int] = {}
    logits: list[list[Tensor]] = [[] for _ in range(num_rows)]
    waiting = list(range(num_rows))
    while waiting or running:
        joining = waiting[: min(2, cache.num_free)]
        waiting = waiting[len(joining) :]
        if joining:
            rows = cache.allocate(len(joining))
            network.listen(cache, rows, torch.stack([states[index % 3] for index in joining]))
            prompts = [PROMPTS[index % 3] for index in joining]
            first = network.prefill(cache, rows, prompts).logits
            for index, row, of_row in zip(joining, rows, first, strict=True):
                running[index] = row
                logits[index].append(of_row)
        order = sorted(running, key=lambda index: (index * 7) % num_rows)
        tokens = [int(logits[index][-1].argmax()) for index in order]
        decoded = network.step(cache, [running[index] for index in order], tokens).logits
        for index, of_row in zip(order, decoded, strict=True):
            logits[index].append(of_row)
            if len(logits[index]) == 4 + 3 * (index % 5):
                cache.free([running.pop(index)])
    return [torch.stack(of_row) for of_row in logits]


def test_rows_that_join_and_leave_do_not_change_a_rows_numbers(network: Whisper, states: Tensor) -> None:
    for index, together in enumerate(in_company(network, states)):
        lonely = alone(network, states[index % 3], PROMPTS[index % 3], len(together) - 1)
        assert torch.equal(together.argmax(-1), lonely.argmax(-1))
        assert (together - lonely).abs().max() < 1e-4


@pytest.mark.weights
def test_in_base_a_row_gives_the_same_numbers_alone_and_in_company(
    whisper_base: Path, record_property: RecordProperty
) -> None:
    """One more or one less in the batch must never be seen in a file's text, not even in a tie."""
    network = load_whisper(whisper_base, CPU)
    speech = recorded_speech()
    states = network.encode(log_mel([speech, speech[20_000:90_000], speech[:30_000]], 80))
    difference = 0.0
    for index, together in enumerate(in_company(network, states, num_rows=5)):
        lonely = alone(network, states[index % 3], PROMPTS[index % 3], len(together) - 1)
        difference = max(difference, (together - lonely).abs().max().item())
        assert torch.equal(together.argmax(-1), lonely.argmax(-1))
    record_property("max_difference_in_company", difference)
    print(f"alone and in company: largest difference of logits {difference:.1e}")
    assert difference < 1e-4


def test_a_short_window_is_heard_as_by_the_reference(made_up_folder: Path, network: Whisper) -> None:
    reference = reference_network(made_up_folder, network.config.dims)
    mel = log_mel([recorded_speech()[:50_000]], network.config.dims.n_mels)
    states = network.encode(mel[..., :1500])
    assert states.shape[1] == 750
    logits = alone(network, states[0], PROMPTS[1], 0)
    expected = reference_logits(reference, states[0], PROMPTS[1])[-1]
    assert (logits[0] - expected).abs().max() < 1e-3


def test_nothing_is_heard_of_what_lies_behind_a_short_window(network: Whisper, states: Tensor) -> None:
    """The slot held a whole one before."""
    short = states[1, :750]
    expected = alone(network, short, PROMPTS[0], 4)
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, states[:1])
    network.prefill(cache, rows, [PROMPTS[0]])
    cache.free(rows)
    rows = cache.allocate(1)
    network.listen(cache, rows, [short])
    logits = [network.prefill(cache, rows, [PROMPTS[0]]).logits]
    for _ in range(4):
        logits.append(network.step(cache, rows, [int(logits[-1].argmax())]).logits)
    assert torch.equal(torch.cat(logits), expected)


def test_short_and_whole_windows_share_a_pass(network: Whisper, states: Tensor) -> None:
    heard = [states[0], states[1, :750], states[2, :750], states[1]]
    cache = network.new_cache(4)
    rows = cache.allocate(4)
    network.listen(cache, rows, heard)
    prompts = [PROMPTS[index % 3] for index in range(4)]
    decoded = network.prefill(cache, rows, prompts, with_attention=True)
    for index, logits in enumerate(decoded.logits):
        assert (logits - alone(network, heard[index], prompts[index], 0)[0]).abs().max() < 1e-4
    assert decoded.attention is not None
    assert torch.allclose(decoded.attention.sum(-1), torch.ones(()), atol=1e-3)
    behind = len(prompts[0])
    assert not decoded.attention[behind : behind + len(prompts[1]), :, 750:].any()


def test_a_prompt_in_two_parts_is_the_same_prompt(network: Whisper, states: Tensor) -> None:
    cache = network.new_cache(2)
    whole, parts = cache.allocate(2)
    network.listen(cache, [whole, parts], states[[0, 0]])
    prompt = PROMPTS[1]
    expected = network.prefill(cache, [whole], [prompt]).logits
    network.prefill(cache, [parts], [prompt[:3]])
    actual = network.prefill(cache, [parts], [prompt[3:]]).logits
    assert torch.allclose(actual, expected, atol=1e-4)


def test_rejected_tokens_leave_no_trace(network: Whisper, states: Tensor) -> None:
    expected = alone(network, states[0], PROMPTS[0], 0)
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, states[:1])
    network.prefill(cache, rows, [PROMPTS[0][:-1]])
    before = cache.length(rows[0])
    network.prefill(cache, rows, [[5, 6, 7]])
    cache.set_length(rows[0], before)
    assert torch.allclose(network.step(cache, rows, [PROMPTS[0][-1]]).logits, expected, atol=1e-4)


def test_a_reused_slot_remembers_nothing_of_its_last_row(network: Whisper, states: Tensor) -> None:
    expected = alone(network, states[1], PROMPTS[2], 4)
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, states[:1])
    network.prefill(cache, rows, [list(range(100, 400))])
    cache.free(rows)
    rows = cache.allocate(1)
    network.listen(cache, rows, states[1:2])
    logits = [network.prefill(cache, rows, [PROMPTS[2]]).logits]
    for _ in range(4):
        logits.append(network.step(cache, rows, [int(logits[-1].argmax())]).logits)
    assert torch.equal(torch.cat(logits), expected)


def test_attention_is_that_of_the_alignment_heads_in_the_order_of_the_rows(
    made_up_folder: Path, network: Whisper, states: Tensor
) -> None:
    cache = network.new_cache(3)
    rows = cache.allocate(3)[::-1]
    network.listen(cache, rows, states)
    attention = network.prefill(cache, rows, PROMPTS, with_attention=True).attention
    assert attention is not None
    assert attention.shape == (sum(map(len, PROMPTS)), 2, 1500)
    assert torch.allclose(attention.sum(-1), torch.ones(()))
    reference = reference_network(made_up_folder, network.config.dims)
    reference.set_attn_implementation("eager")
    for states_of_row, prompt, of_row in zip(
        states, PROMPTS, attention.split([len(p) for p in PROMPTS]), strict=True
    ):
        with torch.no_grad():
            crosses = reference(
                encoder_outputs=(states_of_row[None],),
                decoder_input_ids=torch.tensor([prompt]),
                output_attentions=True,
            ).cross_attentions
        expected = torch.stack(
            [crosses[layer][0, head] for layer, head in network.config.alignment_heads], dim=1
        )
        assert torch.allclose(of_row, expected, atol=1e-5)


def test_a_row_that_is_full_takes_no_more(network: Whisper, states: Tensor) -> None:
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, states[:1])
    network.prefill(cache, rows, [[1] * 448])
    with pytest.raises(ValueError, match="448"):
        network.step(cache, rows, [1])
    with pytest.raises(ValueError, match="0 tokens"):
        network.prefill(cache, rows, [[]])


def test_a_checkpoint_that_lacks_a_weight_is_refused_by_name(made_up_folder: Path, tmp_path: Path) -> None:
    variables = ctranslate2_variables(made_up_folder)
    del variables["decoder/layer_1/ffn/linear_1/weight"]
    folder = write_ctranslate2_folder(tmp_path / "lacking", variables)
    with pytest.raises(FailureError) as caught:
        load_whisper(folder, CPU)
    assert caught.value.failure.kind is FailureKind.MODEL_INCOMPLETE
    assert "model.decoder.layers.1.fc2.weight is missing" in caught.value.failure.detail


def test_a_weight_of_another_shape_is_refused(made_up_folder: Path, tmp_path: Path) -> None:
    variables = ctranslate2_variables(made_up_folder)
    variables["encoder/conv2/weight"] = variables["encoder/conv2/weight"][:, :5]
    folder = write_ctranslate2_folder(tmp_path / "odd", variables)
    with pytest.raises(FailureError) as caught:
        load_whisper(folder, CPU)
    assert "not (64, 64, 3)" in caught.value.failure.detail
