"""Computational cost of a report, and the cheaper methods that large data use; all limits are defined here.

Times and memory are rough: fitted to the table of docs/howto/large.md, which was measured on one machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nlgauge.number import count
from nlgauge.options import option

FULL, QUICK = 1000, 200  # draws
MANY_METRICS = 20  # tests of all pairs grow with the square of the metrics: beyond it, as many draws as with `quick`
MAX_LETTERS = 12  # metrics of which all pairs are tested by several measures
MAX_MATRIX = 25  # metrics whose pairs can be read in a picture
MAX_SYSTEMS = 40  # systems whose pairs are shown: 1,600 cells for each side
MAX_WORK = 4e9  # metrics or pairs × outputs × draws: some twenty to sixty seconds per aspect
STATED_SECONDS, STATED_GIGABYTES = 20, 1  # from which on the estimate is stated before the start


@dataclass(frozen=True)
class Effort:
    """Size of a report, and the methods that this size allows.

    Attributes
    ----------
    outputs, systems, metrics, aspects : int
    quick : bool, default False
        Whether few draws are wanted.
    """

    outputs: int
    systems: int
    metrics: int
    aspects: int
    quick: bool = False

    @property
    def seconds(self) -> float:
        """Return the CPU time, a rough estimate."""
        cells = self.outputs * self.metrics * self.aspects
        per_cell, per_metric = (3e-5, 0.05) if self.quick else (8e-5, 0.1)
        return 2 + per_cell * cells + per_metric * self.metrics * self.aspects + 0.025 * self.systems

    @property
    def gigabytes(self) -> float:
        """Return the peak memory, a rough estimate."""
        return 0.2 + 2e-6 * self.outputs + 1.5e-6 * self.systems**2 + 1.4e-3 * self.metrics

    def cheaper(self) -> list[str]:
        """Return the cheaper methods that these data get."""
        methods = []
        if self.metrics > MANY_METRICS and not self.quick:
            methods.append(f"{QUICK} draws instead of {FULL:,} (more than {MANY_METRICS} metrics)")
        if self.metrics > MAX_LETTERS:
            methods.append(f"all pairs of metrics tested by the primary measure only (more than {MAX_LETTERS})")
        if self.systems > MAX_SYSTEMS:
            methods.append(f"pairs of the {MAX_SYSTEMS} systems with the highest win rates only")
        return methods

    def statement(self) -> str:
        """Return a sentence about time, memory and cheaper methods; empty where the report is soon made.

        >>> Effort(200_000, 20, 3, 1, quick=True).statement()
        '200,000 outputs, 20 systems, 3 metrics, 1 aspect: about 20 s of CPU time and 0.6 GB of memory.'
        >>> Effort(120, 4, 3, 1).statement()
        ''
        """
        methods = self.cheaper()
        if self.seconds < STATED_SECONDS and self.gigabytes < STATED_GIGABYTES and not methods:
            return ""
        size = [count(self.outputs, "output"), count(self.systems, "system")]
        size += [count(self.metrics, "metric"), count(self.aspects, "aspect")]
        less = replace(self, quick=True).seconds
        quicker = "" if self.quick or less > self.seconds / 1.5 else f" ({option('quick', True)}: {_rounded(less)})"
        cheaper = f" Cheaper methods: {'; '.join(methods)}." if methods else ""
        return (
            f"{', '.join(size)}: about {_rounded(self.seconds)} of CPU time and {self.gigabytes:.1f} GB of memory"
            f"{quicker}.{cheaper}"
        )


def _rounded(seconds: float) -> str:
    """Return a duration with one digit, as a rough estimate has.

    >>> _rounded(52), _rounded(234), _rounded(9000)
    ('50 s', '4 min', '2 h')
    """
    unit, size = next((u, n) for u, n in (("h", 3600), ("min", 60), ("s", 1)) if seconds >= 2 * n or n == 1)
    return f"{float(f'{seconds / size:.1g}'):g} {unit}"
