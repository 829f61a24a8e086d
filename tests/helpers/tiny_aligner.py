"""Makes forced aligners of the real layouts with random weights, out of the tiny recogniser's small files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

TINY = Path(__file__).parents[1] / "data" / "tiny_qwen3asr"
TINY_ORIGINAL = Path(__file__).parents[1] / "data" / "tiny_qwen3asr_legacy"
NUM_LABELS = 125
"""Ten seconds."""
TEMPLATE = (
    "{%- for m in messages -%}{%- for c in m.content -%}"
    "{%- if c.type == 'audio' -%}{{- '<|audio_start|><|audio_pad|><|audio_end|>' -}}"
    "{%- else -%}{{- c.text + '<timestamp><timestamp>' -}}{%- endif -%}"
    "{%- endfor -%}{%- endfor -%}"
)
_ORIGINAL_NAMES = {
    "model.multi_modal_projector.linear_1.": "thinker.audio_tower.proj1.",
    "model.multi_modal_projector.linear_2.": "thinker.audio_tower.proj2.",
    "model.audio_tower.": "thinker.audio_tower.",
    "model.language_model.": "thinker.model.",
    "score.": "thinker.lm_head.",
}


def make_native_aligner(folder: Path, seed: int = 0) -> Path:
    """Write an aligner as `save_pretrained` does, with its processor; return `folder`."""
    import torch
    from transformers import (
        AutoTokenizer,
        Qwen3ASRConfig,
        Qwen3ASRFeatureExtractor,
        Qwen3ASRForTokenClassification,
        Qwen3ASRProcessor,
    )

    config = Qwen3ASRConfig.from_pretrained(TINY)
    config.num_labels = NUM_LABELS
    config.tie_word_embeddings = config.text_config.tie_word_embeddings = False
    torch.manual_seed(seed)
    model = Qwen3ASRForTokenClassification(config).eval()
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    processor = Qwen3ASRProcessor(Qwen3ASRFeatureExtractor(), tokenizer, chat_template=TEMPLATE)
    inputs, _ = processor.prepare_forced_aligner_inputs(np.zeros(32_000, np.float32), "a b c d e f g h")
    with torch.no_grad():
        states = model.model(**inputs).last_hidden_state[inputs["input_ids"] == config.timestamp_token_id]
        # What all marks have in common must not decide, or each would get the same label.
        common = states.mean(dim=0) / states.mean(dim=0).norm()
        weight = model.score.weight.normal_()
        weight -= torch.outer(weight @ common, common)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def make_original_aligner(native: Path, folder: Path) -> Path:
    """Write the aligner in `native` as the original repository lays it out; return `folder`."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(TINY_ORIGINAL, folder)
    renamed = {
        _original_name(name): weight for name, weight in load_file(native / "model.safetensors").items()
    }
    save_file(renamed, folder / "model.safetensors", metadata={"format": "pt"})
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    tokens = json.loads((folder / "tokenizer_config.json").read_text())["added_tokens_decoder"]
    config["timestamp_token_id"] = next(int(i) for i, t in tokens.items() if t["content"] == "<timestamp>")
    config["timestamp_segment_time"] = 80
    config["thinker_config"] |= {"model_type": "qwen3_forced_aligner", "classify_num": NUM_LABELS}
    config["thinker_config"]["text_config"]["tie_word_embeddings"] = False
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").unlink(missing_ok=True)
    return folder


def _original_name(name: str) -> str:
    for ours, theirs in _ORIGINAL_NAMES.items():
        if name.startswith(ours):
            return theirs + name.removeprefix(ours)
    raise ValueError(name)
