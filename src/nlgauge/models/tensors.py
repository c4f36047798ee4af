"""Running a model: how many threads, which texts go together, tables of token ids."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

CUT = "longer than the model takes: cut at the end"
TOKENS_A_BATCH = 2048  # with padding; larger batches are no faster on a CPU and cost memory


def cores() -> int:
    """Return the threads for models: NLGAUGE_THREADS, or the cores that this process may use (up to 16)."""
    if text := os.environ.get("NLGAUGE_THREADS"):
        return max(1, int(text))
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(16, allowed)


@contextmanager
def threads(n: int | None = None) -> Iterator[None]:
    """Run torch without gradients on n threads (default: all cores), and restore the settings afterwards."""
    import torch

    was = torch.get_num_threads()
    torch.set_num_threads(n or cores())
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(was)


def by_length(sizes: Sequence[int], budget: int = TOKENS_A_BATCH) -> Iterator[list[int]]:
    """Yield places in batches of similar length, so that little is padded; a batch holds `budget` tokens or one text.

    >>> list(by_length([3, 900, 2, 800], 1800))
    [[1, 3], [0, 2]]
    """
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    while order:
        n = max(1, budget // max(sizes[order[0]], 1))
        yield order[:n]
        order = order[n:]


def padded(rows: Sequence[Sequence[int]], pad: int, device: Any = None) -> tuple[Any, Any]:
    """Return ids and mask as tensors, padded on the right."""
    import torch

    width = max(map(len, rows))
    table = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros_like(table)
    for r, row in enumerate(rows):
        table[r, : len(row)] = torch.tensor(list(row), dtype=torch.long)
        mask[r, : len(row)] = 1
    return table.to(device), mask.to(device)


def longest_input(tokenizer: Any, config: Any, most: int = 100_000) -> int:
    """Return how many tokens the model takes, special ones included; `most` where that is unknown."""
    text = [int(n) for n in (getattr(tokenizer, "model_max_length", 0),) if n and n < 100_000]
    positions = int(getattr(config, "max_position_embeddings", 0) or 0)
    if positions:
        # RoBERTa counts positions from the padding id + 1.
        shift = 2 if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert") else 0
        text.append(positions - shift)
    return min([*text, 100_000]) if text else most
