"""Layers in 8-bit integers are close to the float ones, and a row's numbers never depend on its company."""

from __future__ import annotations

import pytest
import torch

from engine.adapters.quantised import LARGEST, QuantisedLinear, is_exact, quantise

needs_exact_sums = pytest.mark.skipif(not is_exact(), reason="this processor does not multiply bytes exactly")


def layer(num_inputs: int, num_outputs: int, *, bias: bool = True) -> tuple[QuantisedLinear, torch.Tensor]:
    torch.manual_seed(num_inputs + num_outputs)
    weight = torch.randn(num_outputs, num_inputs)
    return QuantisedLinear(quantise(weight), torch.randn(num_outputs) if bias else None), weight


def test_a_weight_keeps_its_largest_values_and_its_zeros() -> None:
    weight = torch.tensor([[0.0, -2.0, 1.0], [0.0, 0.0, 0.0]])
    quantised = quantise(weight)
    assert quantised.weight.tolist() == [[0, -LARGEST, 64], [0, 0, 0]]
    assert torch.allclose(quantised.weight * quantised.scale[:, None], weight, atol=0.01)


@needs_exact_sums
@pytest.mark.parametrize("num_rows", [1, 7, 33])
def test_products_are_close_to_the_float_ones(num_rows: int) -> None:
    linear, weight = layer(256, 100, bias=False)
    x = torch.randn(num_rows, 256) * torch.logspace(-3, 3, num_rows)[:, None]
    expected = x @ weight.T
    error = (linear.rows(x) - expected).norm(dim=-1) / expected.norm(dim=-1)
    assert error.max() < 0.02


@needs_exact_sums
@pytest.mark.parametrize(("num_inputs", "num_outputs"), [(64, 192), (512, 2048), (2048, 512)])
def test_a_row_is_bit_equal_in_any_company(num_inputs: int, num_outputs: int) -> None:
    linear, _ = layer(num_inputs, num_outputs)
    x = torch.randn(40, num_inputs)
    x[5] *= 1e4
    together = linear.rows(x)
    for size in (1, 2, 3, 8, 17, 32):
        assert torch.equal(linear.rows(x[3 : 3 + size]), together[3 : 3 + size])


@needs_exact_sums
def test_a_row_of_zeros_gives_the_bias() -> None:
    linear, _ = layer(64, 10)
    assert torch.equal(linear.rows(torch.zeros(2, 64))[0], linear.rows(torch.zeros(1, 64))[0])
    assert not linear.rows(torch.zeros(1, 64)).isnan().any()


@needs_exact_sums
def test_sums_of_the_largest_values_do_not_overflow() -> None:
    linear = QuantisedLinear(quantise(torch.ones(16, 4096)), None)
    assert torch.allclose(linear.rows(torch.ones(3, 4096)), torch.full((3, 16), 4096.0))
