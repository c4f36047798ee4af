"""What several kernels share, for Python; compiled kernels take it from `shared.pxd`."""

from __future__ import annotations

STRIP = 128  # draws handled together, one SIMD lane each: long enough for SIMD, short enough to stay in cache
LANES = 16  # pairs of texts handled together
NEAR = (
    1e-12  # values closer than this part of their size are one value, rounded differently (stats/correlation/ties.py)
)
CANCELLED = 1e-3  # a sum of squares this small relative to its terms has lost digits and is recomputed
ALL = (1 << 64) - 1  # a word of ones; & ALL is what a word holds of a number, and costs nothing when compiled
PRIME = 0x9E3779B97F4A7C15  # spreads the bits of a key over a hash

popcount = int.bit_count


def bit(i):
    """Return a word of which bit i alone is set."""
    return 1 << i
