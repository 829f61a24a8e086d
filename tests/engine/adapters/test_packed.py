"""Packed 16-bit layers are close to the exact ones, and a row's numbers never depend on its company."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from engine.adapters.packed import PackedLinear, can_pack

pytestmark = pytest.mark.skipif(not can_pack(), reason="this processor does not multiply 16-bit floats")


def layer(
    num_inputs: int, num_outputs: int, *, has_gelu: bool = False
) -> tuple[PackedLinear, torch.Tensor, torch.Tensor]:
    torch.manual_seed(num_inputs + num_outputs)
    weight, bias = torch.randn(num_outputs, num_inputs), torch.randn(num_outputs)
    return PackedLinear(weight, bias, has_gelu=has_gelu), weight, bias


@pytest.mark.parametrize("has_gelu", [False, True])
@pytest.mark.parametrize("num_rows", [1, 16, 40])
def test_results_are_close_to_the_exact_ones(num_rows: int, *, has_gelu: bool) -> None:
    linear, weight, bias = layer(256, 96, has_gelu=has_gelu)
    x = torch.randn(num_rows, 256)
    expected = F.linear(x, weight, bias)
    expected = F.gelu(expected) if has_gelu else expected
    for found in (linear.rows(x), linear.window(x).float()):
        assert (found - expected).norm() / expected.norm() < 0.01


@pytest.mark.parametrize(("num_inputs", "num_outputs"), [(64, 192), (512, 1536), (512, 512), (1280, 1280)])
def test_a_row_is_bit_equal_in_any_company(num_inputs: int, num_outputs: int) -> None:
    linear, _, _ = layer(num_inputs, num_outputs)
    x = torch.randn(40, num_inputs)
    x[5] *= 1e4
    together = linear.rows(x)
    for size in (1, 2, 3, 8, 16, 17, 32):
        assert torch.equal(linear.rows(x[3 : 3 + size]), together[3 : 3 + size])


@pytest.mark.parametrize("numbers", [torch.float32, torch.bfloat16])
def test_rows_stay_in_the_numbers_they_came_in(numbers: torch.dtype) -> None:
    """A network that is 16-bit throughout remembers its text in these, and must not be given others."""
    linear, _, _ = layer(64, 32)
    assert linear.rows(torch.randn(3, 64).to(numbers)).dtype == numbers
