"""Labels per system, systems that the labels do not cover, and the transfer of the judge's error between systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.data.panel import Panel
from nlgauge.number import some
from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.systems import (
    IMPROBABLE,
    PROBE_LABELS,
    TRANSFER_LEVEL,
    ErrorTransfer,
    audit_transfer,
    left_out_systems,
)
from nlgauge.table import Row
from nlgauge.types import Array

MAX_LISTED = 8  # systems whose counts are listed individually
MARGIN = 0.05  # default equivalence margin, as a share of the range of the human scale


@dataclass(frozen=True)
class SystemLabels:
    """Labels of each system, in the order of the data. left_out: systems that the labels do not cover."""

    names: tuple[str, ...]
    labels: tuple[int, ...]
    rows: tuple[int, ...]
    left_out: tuple[str, ...]

    @property
    def covered(self) -> list[str]:
        """Return the systems that the labels cover."""
        return [name for name in self.names if name not in self.left_out]

    @property
    def even(self) -> bool:
        """Return whether the labels are proportional to the outputs of each system, up to one label."""
        labels, rows = np.array(self.labels), np.array(self.rows)
        return bool((np.abs(labels - labels.sum() * rows / rows.sum()) <= 1).all())

    @property
    def unequal(self) -> bool:
        """Return whether the labeled share of a system is less than half that of another."""
        shares = np.array(self.labels) / np.maximum(self.rows, 1)
        return bool(2 * shares.min() < shares.max()) and not self.even

    def count_text(self) -> str:
        """State the number of labels of each system; empty with one system.

        >>> SystemLabels(("a", "b"), (120, 0), (400, 400), ("b",)).count_text()
        'labels per system: a 120, b 0.'
        """
        if len(self.names) < 2:
            return ""
        if len(set(self.labels)) == 1:
            return f"labels per system: {self.labels[0]:,} of each of {len(self.names)} systems."
        if len(self.names) > MAX_LISTED:
            none = self.labels.count(0)
            lacking = f"; {none} have none" if none else ""
            return f"labels per system: {min(self.labels):,} to {max(self.labels):,}{lacking}."
        counts = ", ".join(f"{name} {n:,}" for name, n in zip(self.names, self.labels, strict=True))
        return f"labels per system: {counts}."

    def gap_text(self) -> str:
        """State which systems the labels do not cover; empty if they cover all.

        >>> SystemLabels(("old", "new"), (120, 0), (400, 400), ("new",)).gap_text()
        "all 120 labels are of system 'old'; 'new' has none"
        """
        if not self.left_out:
            return ""
        count = dict(zip(self.names, self.labels, strict=True))
        total, inside = sum(self.labels), sum(count[name] for name in self.covered)
        share = f"all {total:,}" if inside == total else f"{inside:,} of {total:,}"
        word = "system" if len(self.covered) == 1 else "systems"
        none, few = ([n for n in self.left_out if (count[n] == 0) == empty] for empty in (True, False))
        lacking = [f"{_quoted(none)} {'has' if len(none) == 1 else 'have'} none"] if none else []
        lacking += [f"'{name}' has {count[name]}" for name in few[:3]]
        lacking += [f"{len(few) - 3} more have fewer than {PROBE_LABELS}"] if len(few) > 3 else []
        if not self.covered:
            return f"{'; '.join(lacking)}, of {total:,} labels"
        return f"{share} labels are of {word} {_quoted(self.covered)}; {', '.join(lacking)}"

    def notes(self, what: str) -> list[str]:
        """State the gap and what it means for the results, or the number of labels of each system."""
        if not self.left_out:
            return [text] if (text := self.count_text()) else []
        whose = _quoted(self.left_out)
        return [
            f"{self.gap_text()}: the {what} do not generalize to {whose} (`nlgauge estimate` computes how many labels "
            f"{'it needs' if len(self.left_out) == 1 else 'they need'})."
        ]


def _quoted(names: Sequence[str]) -> str:
    return some([f"'{name}'" for name in names])


def count_system_labels(
    system: NDArray[np.str_],
    labeled: NDArray[np.bool_],
    unit: NDArray[np.int64] | None = None,
    expected: Array | None = None,
) -> SystemLabels:
    """Count the labels of each system and find the systems that they leave out.

    Parameters
    ----------
    system, labeled : arrays
        Of every row.
    unit : array of int, optional
        Cluster of every row: labels of one cluster of a system count once in the test, since they are drawn together.
    expected : array, optional
        Probability with which each row was to be labeled, where the design is known. A system is then left out only if
        it has no label although it should have some.
    """
    names = list(dict.fromkeys(system.tolist()))
    index = {name: k for k, name in enumerate(names)}
    code = np.array([index[name] for name in system.tolist()], np.int64)
    labels, rows = (np.bincount(code[part], minlength=len(names)) for part in (labeled, np.ones(len(code), bool)))
    if len(names) < 2 or (labels == rows).all():
        marked = np.zeros(len(names), bool)
    elif expected is not None:
        marked = (labels == 0) & (np.exp(-np.bincount(code, expected, len(names))) * len(names) < IMPROBABLE)
    else:
        marked = left_out_systems(*_drawn_counts(code, labeled, unit)) & (labels < PROBE_LABELS)
    left_out = tuple(name for name, out in zip(names, marked, strict=True) if out)
    return SystemLabels(tuple(names), tuple(labels.tolist()), tuple(rows.tolist()), left_out)


def _drawn_counts(
    code: NDArray[np.int64], labeled: NDArray[np.bool_], unit: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count what was drawn and what there is, of each system: rows, or clusters of rows."""
    if unit is None:
        return np.bincount(code[labeled], minlength=int(code.max()) + 1), np.bincount(code)
    size = int(unit.max()) + 1
    drawn, every = (np.unique(code[part] * size + unit[part]) // size for part in (labeled, np.ones(len(code), bool)))
    return np.bincount(drawn, minlength=int(code.max()) + 1), np.bincount(every)


def panel_labels(panel: Panel) -> SystemLabels:
    """Count the labels of each system of a panel, among the inputs that have a rating."""
    labeled = np.isfinite(panel.human)
    present = labeled | np.isfinite(np.array(list(panel.metrics.values()))).any(axis=0) if panel.metrics else labeled
    order = [(panel.systems[k], k) for k in panel.listed]
    system = np.concatenate([np.full(present[k].sum(), name) for name, k in order])
    return count_system_labels(system, np.concatenate([labeled[k][present[k]] for _, k in order]))


def transfer_texts(
    reference: str, transfers: Mapping[str, ErrorTransfer], margin: float, rows: Mapping[str, int]
) -> list[str]:
    """State the outcome of the equivalence test of the judge's mean error for each system."""
    lines = []
    for name, t in transfers.items():
        text = (
            f"Transfer of the judge's mean error from '{reference}' to '{name}': {t.outcome}; difference "
            f"{t.difference:+.2f} [{t.low:+.2f}, {t.high:+.2f}] ({TRANSFER_LEVEL:.0%} CI, margin ±{margin:.2g})"
        )
        if t.outcome == "undecided":
            enough = np.isfinite(t.labels) and t.labels <= rows[name]
            text += (
                f"; a decision requires about {int(t.labels):,} labels of '{name}'"
                if enough
                else f"; more labels of '{name}' alone would not decide it"
            )
        lines.append(f"{text}.")
    return lines


def audit_systems(
    samples: Mapping[str, PartlyLabeled], counts: SystemLabels, margin: float
) -> tuple[list[str], dict[str, Any]]:
    """Test whether the judge's mean error is equal on the system with most labels and the others: texts and facts."""
    if len(samples) < 2:
        return [], {}
    reference, transfers = audit_transfer(samples, margin)
    texts = transfer_texts(reference, transfers, margin, dict(zip(counts.names, counts.rows, strict=True)))
    texts.append("Each system is estimated from its own labels, whether or not the judge's error transfers.")
    return texts, {
        name: {"reference": reference, "margin": margin, **{k: v.item() for k, v in t._asdict().items()}}
        for name, t in transfers.items()
    }


def labels_needed(estimates: Sequence[Row], system_rows: int, margin: float) -> int:
    """Return about how many labels of a system give an interval of ± the margin, from the system with most labels."""
    sure = [r for r in estimates if np.isfinite(r["low"]) and r["measure"] in ("labels_only", "ppi_plus")]
    if not sure:
        return min(PROBE_LABELS, system_rows)
    largest = max(sure, key=lambda r: (r["n"], r["measure"] == "ppi_plus"))
    half = float(largest["high"] - largest["low"]) / 2
    return min(max(PROBE_LABELS, math.ceil(int(largest["n"]) * (half / margin) ** 2)), system_rows)


def refused_rows(counts: SystemLabels, aspect: str, judge: str, needed: Mapping[str, int]) -> list[Row]:
    """Return rows of the estimate without a value, for the systems that the labels do not cover."""
    blank = dict.fromkeys(("value", "low", "high", "p", "weight", "worth", "low_alone", "high_alone"), np.nan)
    measures = [("human", "labels_only"), *([(judge, "ppi_plus")] if judge else [])]
    made: list[Row] = []
    for name, n, total in zip(counts.names, counts.labels, counts.rows, strict=True):
        if name in counts.left_out:
            why = (
                f"has {n or 'no'} label{'s' * (n != 1)}, while other systems have more: label about {needed[name]:,} "
                "of "
                "its outputs"
            )
            shared = {"aspect": aspect, "n": n, "rows": total, "system": name, "reason": why}
            made += [{"metric": who, "measure": measure, **blank, **shared} for who, measure in measures]
    return made
