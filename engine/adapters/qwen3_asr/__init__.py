"""Qwen3-ASR: a speech encoder in front of a text model, and its companion, the forced aligner.

Torch-free until an adapter is asked for.
"""
