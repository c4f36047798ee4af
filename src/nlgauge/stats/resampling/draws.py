"""Random draws of permutation tests, bootstraps and splits, in strips as the kernels read them.

Draws are shared by all metrics, pairs and measures, and come in blocks with their own seeds, so a result depends
neither on what else is computed nor on the number of threads, and 2,000 draws begin with the same 1,000. With `legacy`,
the numbers of `np.random.seed(seed)` are drawn in the order of nlpstats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.errors import NlgaugeError
from nlgauge.kernels.shared import STRIP
from nlgauge.types import Array, Ids, Ints

Swap = Literal["both", "inputs", "systems", "cells"]
Resample = Literal["both", "inputs", "systems"]
Bits = NDArray[np.int8]
Times = NDArray[np.int16]  # weight of a unit; in a mask, whether it is swapped

BLOCK = 8 * STRIP - 1  # draws per block: together with the unswapped data they fill eight strips
PICKS = 1 << 20  # units drawn at once, to limit memory


class Masks(NamedTuple):
    """Swap masks of a block: cell c is swapped where rows[row[c]] xor cols[col[c]]; draw 0 swaps nothing."""

    rows: Times
    cols: Times
    row: Ids
    col: Ids
    draws: int


class Weights(NamedTuple):
    """How often each system and each input counts in each draw: strips × systems (or inputs) × STRIP."""

    systems: Times
    inputs: Times
    draws: int


def blocks_of(draws: int) -> int:
    """Return the number of blocks for that many draws."""
    if draws < 1:
        raise NlgaugeError(f"the number of draws must be at least 1; found {draws}")
    return -(-draws // BLOCK)


def streams(seed: int, draws: int, legacy: bool) -> Iterator[tuple[int, np.random.Generator | np.random.RandomState]]:
    """Yield (size, generator) of each block of draws."""
    blocks = blocks_of(draws)
    if legacy:  # one global stream, read sequentially by the blocks
        old = np.random.RandomState(seed)
        yield from ((min(BLOCK, draws - index), old) for index in range(0, draws, BLOCK))
        return
    for index, child in enumerate(np.random.SeedSequence(seed).spawn(blocks)):
        yield min(BLOCK, draws - index * BLOCK), np.random.default_rng(child)


def _coins(stream: np.random.Generator | np.random.RandomState, draws: int, n: int) -> Bits:
    if isinstance(stream, np.random.RandomState):
        return (stream.random_sample((draws, n)) > 0.5).astype(np.int8)
    return stream.integers(0, 2, (draws, n), dtype=np.int8)


def swap_masks(how: Swap, systems: int, inputs: int, draws: int, seed: int, legacy: bool = False) -> Iterator[Masks]:
    """Yield blocks of masks that swap whole systems, whole inputs, both (exclusive or), or single outputs."""
    units = _units(how, systems, inputs)
    for size, stream in streams(seed, draws, legacy):
        yield _masks(how, systems, inputs, _coins(stream, size, sum(units)))


def block_masks(how: Swap, systems: int, inputs: int, draws: int, seed: int, legacy: bool, block: int) -> Masks:
    """Return one of these blocks. The legacy stream is read up to it; other blocks have their own seed."""
    units = sum(_units(how, systems, inputs))
    for index, (size, stream) in enumerate(streams(seed, draws, legacy)):
        if index == block:
            return _masks(how, systems, inputs, _coins(stream, size, units))
        if legacy:
            _coins(stream, size, units)
    raise IndexError(block)


def _units(how: Swap, systems: int, inputs: int) -> tuple[int, int]:
    """Return the number of random bits for rows and for columns."""
    sizes = {"both": (systems, inputs), "systems": (systems, 0), "inputs": (0, inputs), "cells": (0, systems * inputs)}
    if how not in sizes:
        raise NlgaugeError(f"how to swap must be one of {', '.join(sizes)}; found {how!r}")
    return sizes[how]


def _masks(how: Swap, systems: int, inputs: int, coins: Bits) -> Masks:
    cells = np.arange(systems * inputs, dtype=np.int32)
    row, col = cells // np.int32(max(inputs, 1)), cells % np.int32(max(inputs, 1))
    (n_rows, n_cols), size = _units(how, systems, inputs), len(coins)
    return Masks(
        _strips(coins[:, :n_rows], first=1) if n_rows else _still(size),
        _strips(coins[:, n_rows:], first=1) if n_cols else _still(size),
        row if n_rows else np.zeros_like(row),
        (cells if how == "cells" else col) if n_cols else np.zeros_like(col),
        size,
    )


def _strips(draws_first: Array | Bits, first: int = 0) -> Times:
    """Reshape draws × units → strips × units × STRIP, padded with zeros in front (`first`) and behind."""
    draws, units = draws_first.shape
    strips = -(-(draws + first) // STRIP)
    out = np.zeros((strips, units, STRIP), np.int16)
    for s in range(strips):  # strip by strip: no second array of this size
        index = s * STRIP - first
        low, high = max(index, 0), min(index + STRIP, draws)
        out[s, :, low - index : high - index] = draws_first[low:high].T
    return out


def _still(draws: int) -> Times:
    return np.zeros((-(-(draws + 1) // STRIP), 1, STRIP), np.int16)


def joined(strips: Array, draws: int, first: int = 0) -> Array:
    """Reshape … × strips × STRIP → … × draws, the inverse of `_strips`."""
    return strips.reshape(*strips.shape[:-2], -1)[..., first : first + draws]


def weights(systems: Array, inputs: Array) -> Weights:
    """Return given weights, draws × systems and draws × inputs (whole numbers), in strips."""
    if any((part.astype(np.int16) != part).any() for part in (systems, inputs)):
        raise NlgaugeError("weights of systems and inputs must be whole numbers below 32,768")
    return Weights(_strips(systems), _strips(inputs), len(systems))


def bootstrap_counts(
    how: Resample, systems: int, inputs: int, draws: int, seed: int, legacy: bool = False
) -> Iterator[tuple[Array, Array]]:
    """Yield blocks of (draws × systems, draws × inputs): the number of times each was drawn with replacement."""
    if how not in ("both", "inputs", "systems"):
        raise NlgaugeError(f"what to resample must be one of both, inputs, systems; found {how!r}")
    units, drawn = (systems, inputs), (how != "inputs", how != "systems")
    for size, stream in streams(seed, draws, legacy):
        # One stream each, so that a shorter run is the beginning of a longer one; legacy: systems and inputs of
        # each draw in turn.
        own: list[Any] = [stream] * 2 if isinstance(stream, np.random.RandomState) else stream.spawn(2)
        step = 1 if legacy else max(1, PICKS // max(units))
        for index in range(0, size, step):
            some = min(step, size - index)
            one, two = (
                _count_picks(own_part.choice(n, (some, n)) if legacy else own_part.integers(0, n, (some, n)), n)
                if moves
                else np.ones((some, n))
                for own_part, n, moves in zip(own, units, drawn, strict=True)
            )
            yield one, two


def _count_picks(picks: Ints, n: int) -> Array:
    """Count how often each of n units was picked: draws × picks → draws × n."""
    cells = (picks + n * np.arange(len(picks))[:, None]).ravel()
    return np.bincount(cells, minlength=n * len(picks)).reshape(len(picks), n).astype(np.float64)


def halves(inputs: int, trials: int, seed: int) -> Array:
    """Return trials × inputs: 1 for the ⌊M/2⌋ inputs of the first half, 0 for the others."""
    out = np.zeros((trials, inputs))
    index = 0
    for size, stream in streams(seed, trials, legacy=False):
        for trial in range(index, index + size):
            out[trial, stream.permutation(inputs)[: inputs // 2]] = 1.0
        index += size
    return out
