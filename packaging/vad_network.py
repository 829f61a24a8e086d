"""Lays out Silero's network anew for `engine.manager.vad`: the same weights, frames as rows of products.

    python packaging/vad_network.py      (with `onnx` installed; nothing else of ours needs it)

The network of the `silero-vad` package goes through a convolution for each frame of 32 ms, over four
places in time; as one product of all frames they take less than a third of the time. What comes out is
the same but for rounding, and `tests/engine/manager/test_vad.py` compares them. To be run again when the
package has other weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

SOURCE: Final = "silero_vad/data/silero_vad_16k_sequence.onnx"
TARGET: Final = Path(__file__).resolve().parents[1] / "engine/manager/silero_vad.onnx"
HOP: Final = 128
"""Samples from one spectrum to the next; each is of two hops."""
REFLECTED: Final = 64
"""Samples behind the end of a frame, so that it has four spectra."""
NUM_SPECTRA: Final = 4
NUM_BINS: Final = 129

Weights = npt.NDArray[np.float32]


class Builder:
    """Collects nodes and constants; every method returns the name of what it adds."""

    def __init__(self, weights: dict[str, Weights]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: Sequence[str], name: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def numbers(self, name: str, *values: int) -> str:
        return self.constant(name, np.array(values, np.int64))

    def reshape(self, x: str, name: str, *shape: int) -> str:
        return self.add("Reshape", [x, self.numbers(f"{name}.shape", *shape)], name)

    def cut(self, x: str, name: str, first: int, end: int, step: int = 1) -> str:
        """Take places `first` to `end` in time, the second axis."""
        parts = {"first": first, "end": end, "axis": 1, "step": step}
        bounds = [self.numbers(f"{name}.{part}", value) for part, value in parts.items()]
        return self.add("Slice", [x, *bounds], name)

    def neighbours(self, x: str, name: str, length: int, stride: int) -> str:
        """Put each place, every `stride`-th of `length`, behind the one before and before the next."""
        padded = self.add("Pad", [x, self.numbers(f"{name}.pads", 0, 1, 0, 0, 1, 0)], f"{name}.padded")
        taps = [
            self.cut(padded, f"{name}.tap{tap}", tap, tap + length - stride + 1, stride) for tap in range(3)
        ]
        return self.add("Concat", taps, f"{name}.neighbours", axis=2)

    def convolve(self, x: str, name: str, taps: Sequence[int], length: int) -> str:
        """Apply a convolution of which only `taps` meet what is not padding, and ReLU."""
        weight = np.concatenate([self.weights[f"{name}.weight"][:, :, tap].T for tap in taps])
        rows = self.reshape(x, f"{name}.rows", -1, len(weight))
        parts = [
            self.constant(f"{name}.weight", weight),
            self.constant(f"{name}.bias", self.weights[f"{name}.bias"]),
        ]
        product = self.add("Relu", [self.add("Gemm", [rows, *parts], f"{name}.product")], f"{name}.relu")
        return self.reshape(product, f"{name}.states", -1, length, weight.shape[1])


def lay_out(source: onnx.ModelProto) -> onnx.ModelProto:
    """Return the network with the inputs and outputs of `source`, and its weights."""
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in source.graph.initializer}
    build = Builder(weights)
    x = build.add("Pad", ["input", build.numbers("pads", 0, 0, 0, REFLECTED)], "padded", mode="reflect")
    hops = build.reshape(x, "hops", -1, NUM_SPECTRA + 1, HOP)
    pieces = [build.cut(hops, "early", 0, NUM_SPECTRA), build.cut(hops, "late", 1, NUM_SPECTRA + 1)]
    x = build.reshape(build.add("Concat", pieces, "pieces", axis=2), "waves", -1, 2 * HOP)
    basis = build.constant("basis", weights["stft.forward_basis_buffer"][:, 0].T)
    spectra = build.add("Gemm", [x, basis], "spectra")
    halves = build.numbers("halves", NUM_BINS, NUM_BINS)
    build.nodes.append(helper.make_node("Split", [spectra, halves], ["real", "imaginary"], axis=1))
    squares = [build.add("Mul", [part, part], f"{part}.square") for part in ("real", "imaginary")]
    x = build.add("Sqrt", [build.add("Add", squares, "power")], "magnitude")
    x = build.reshape(x, "spectrogram", -1, NUM_SPECTRA, NUM_BINS)
    x = build.convolve(build.neighbours(x, "first", 4, 1), "encoder.0", (0, 1, 2), 4)
    x = build.convolve(build.neighbours(x, "second", 4, 2), "encoder.1", (0, 1, 2), 2)
    x = build.convolve(x, "encoder.2", (1, 2), 1)
    x = build.convolve(x, "encoder.3", (1,), 1)
    recurrent = next(node for node in source.graph.node if node.op_type == "LSTM")
    gates = [build.constant(f"gates.{name}", weights[name]) for name in recurrent.input[1:4]]
    build.nodes.append(
        helper.make_node("LSTM", [x, *gates, "", "h", "c"], ["heard", "hn", "cn"], hidden_size=HOP)
    )
    x = build.add("Relu", [build.reshape("heard", "rows", -1, HOP)], "relu")
    voice = build.constant("voice", weights["output.weight"][:, :, 0].T)
    score = build.add("Gemm", [x, voice, build.constant("bias", weights["output.bias"])], "score")
    build.reshape(build.add("Sigmoid", [score], "probability"), "speech_probs", -1)
    graph = helper.make_graph(
        build.nodes, source.graph.name, source.graph.input, source.graph.output, build.constants
    )
    network = helper.make_model(graph, opset_imports=source.opset_import, ir_version=source.ir_version)
    onnx.checker.check_model(network, full_check=True)
    return network


if __name__ == "__main__":
    package = metadata.distribution("silero-vad")
    onnx.save(lay_out(onnx.load(str(package.locate_file(SOURCE)))), TARGET)
    print(f"{TARGET}: {TARGET.stat().st_size} bytes, of silero-vad {package.version}")
