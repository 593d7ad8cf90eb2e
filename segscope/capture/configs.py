"""RoPE's shape in LitGPT's models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class RopeConfig:
    """The part of a LitGPT model configuration (litgpt/config.py) that RoPE depends on."""

    n_head: int
    """Heads of Q."""
    n_query_groups: int
    """Heads of K and of V."""
    head_size: int
    """Elements in a head."""
    rope_n_elem: int
    """How many elements of a head are rotated: ``rotary_percentage * head_size``."""
    block_size: int
    """The model's longest sequence: the default sequence length."""


CONFIGS: Final = {
    "Llama-2-7b-hf": RopeConfig(32, 32, 128, 128, 4096),
    "Llama-2-13b-hf": RopeConfig(40, 40, 128, 128, 4096),
    "Llama-2-70b-hf": RopeConfig(64, 8, 128, 128, 4096),
    "Llama-3-8B": RopeConfig(32, 8, 128, 128, 8192),
    "Llama-3.1-8B": RopeConfig(32, 8, 128, 128, 131072),
    "Mistral-7B-v0.1": RopeConfig(32, 8, 128, 128, 4096),
    "tiny-llama-1.1b": RopeConfig(32, 4, 64, 64, 2048),
    "phi-2": RopeConfig(32, 32, 80, 32, 2048),
    "pythia-6.9b": RopeConfig(32, 32, 128, 32, 2048),
    "falcon-7b": RopeConfig(71, 1, 64, 64, 2048),
    "Gemma-7b": RopeConfig(16, 16, 256, 256, 8192),
}
"""RoPE's shape in the models that LitGPT names so."""
