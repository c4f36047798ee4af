"""Change of a metric or judge between two runs: the gate measure on shared inputs, and a paired test.

If labels and verdicts are pass or fail in both runs, accuracy is compared instead (`verdict_changes`); with one
system, the correlation over its outputs (`score_changes`).

A gate passes only if it could have failed: a metric that is missing, has nothing to compare, lost values, or has too
few inputs for a significant drop does not pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.analyses.comparing import score_changes, verdict_changes
from nlgauge.analyses.judges.judge_card import made_otherwise
from nlgauge.datasets.results import read_results
from nlgauge.errors import DataError, NameUnknown
from nlgauge.options import SOME, call, option
from nlgauge.registry import did_you_mean
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.tests.corrections import holm
from nlgauge.stats.tests.two_samples import mean_test
from nlgauge.table import Row, Table
from nlgauge.types import Ints

Results = Mapping[str, Any]  # content of results.json
DRAWS = 9999
WORSE, LOWER, SAME, HIGHER, BETTER = (
    "dropped",
    "lower, not significant",
    "no change",
    "higher, not significant",
    "rose",
)
GONE = "no values"
MISSING, ALONE, FEW, LOST = "missing", "nothing to compare", "too few inputs", "lost values"
UNKNOWN = {MISSING, ALONE, FEW, LOST}
BY_ROW = {verdict_changes.AGREEMENT: verdict_changes, score_changes.MEASURE: score_changes}  # for a single system
PASS, FAIL, INCONCLUSIVE = 0, 1, 3  # exit codes, as of `nlgauge gate`


def compare_results(
    old: str | Path,
    new: str | Path,
    *,
    measure: str | None = None,
    metrics: Sequence[str] | None = None,
    aspects: Sequence[str] | None = None,
    fail_drop: float = 0.0,
    alpha: float = 0.05,
    seed: int = 0,
) -> Table:
    """Test whether a metric or judge got worse between two runs (sign-flip test over shared inputs).

    Parameters
    ----------
    old, new : path
        results.json of two runs of `nlgauge run` or `nlgauge.report`.
    measure : str, optional
        Gate measure that both runs must have.
    metrics, aspects : sequence of str, optional
        All by default.
    fail_drop : float, default 0
        Largest drop that does not fail.
    alpha : float, default 0.05
        A drop is significant below this corrected p.
    seed : int, default 0

    Returns
    -------
    Table
        One row per aspect and metric of the old file: old, new, change, p. `fails` is true where the drop is larger
        than `fail_drop` and significant after Holm's correction; if it could not be tested, the verdict explains
        it.
    """
    runs = RunPair.read(Path(old), Path(new), measure)
    first, second = runs.old["per_input"], runs.new["per_input"]
    pairs, vanished, notes = _shared(first["values"], second["values"], aspects, metrics, runs.paths)
    compared = [runs.compare(a, m, by_row=measure is None, seed=seed) for a, m in pairs]
    rows = [row for row, _ in compared]
    tested = _decide(rows, alpha, fail_drop)
    rows += [{**runs.input_row(a, m, seed), "verdict": MISSING, "fails": False} for a, m in vanished]
    names = list(dict.fromkeys(r["measure"] for r in rows))
    columns = ["old", "new", "change", "p", "p_corrected", "inputs", "verdict"]
    table = Table(
        title=f"{' and '.join(names)}: {runs.paths[0].name} → {runs.paths[1].name}",
        rows=rows,
        shown=["aspect", "metric", *(["measure"] if len(names) > 1 else []), *columns],
        method=f"{_tests_text(names, runs)} p is corrected by Holm over {tested} comparisons. A drop fails if it is "
        f"larger than {fail_drop:g} and the corrected p is below {alpha:g}.",
        notes=[
            *(text for _, text in compared if text),
            *notes,
            *runs.notes(),
            *_lost_values(rows),
            *_differences(runs),
            *_made_otherwise(runs, list(dict.fromkeys(m for _, m in pairs))),
        ],
        signature=f"nlgauge:{runs.new['nlgauge']}|measure:{'+'.join(names)}|draws:{DRAWS}|seed:{seed}",
        kind="diff",
    )
    table.exit_code, words = verdict_words(table, fail_drop)
    verdict = {PASS: "passed", FAIL: "failed", INCONCLUSIVE: "undecided"}[table.exit_code]
    table.answers, table.facts = [f"The gate {words}"], {"verdict": verdict}
    return table


@dataclass(frozen=True)
class RunPair:
    """Results of two runs, and their shared inputs."""

    old: Results
    new: Results
    paths: tuple[Path, Path]
    measure: str  # of the values per input
    common: list[tuple[int, int]]  # index of each shared input in the old and in the new file
    units: Mapping[str, str]  # unit of each input with several trials or parts of a document
    codes: Ints  # number of the unit of each shared input

    @classmethod
    def read(cls, old: Path, new: Path, measure: str | None) -> RunPair:
        """Read both files; an error if they have no input or not the measure in common."""
        files = read_results(old), read_results(new)
        name = _measure(files, (old, new), measure)
        first, second = (found["per_input"] for found in files)
        at = {str(i): k for k, i in enumerate(second["inputs"])}
        common = [(k, at[str(i)]) for k, i in enumerate(first["inputs"]) if str(i) in at]
        if not common:
            raise DataError(f"{old} and {new}: the runs have no input in common.")
        units = {**second["units"], **first["units"]}
        codes = _codes([units.get(i := str(first["inputs"][k]), i) for k, _ in common])
        return cls(*files, (old, new), name, common, units, codes)

    def compare(self, aspect: str, metric: str, *, by_row: bool, seed: int) -> tuple[Row, str]:
        """Return the row of a metric and a sentence; `by_row`: compare single rows where both runs have them."""
        change: tuple[Row, str] | None = None
        verdicts = [verdict_changes.has_verdicts(found, aspect, metric) for found in (self.old, self.new)]
        if by_row and all(verdicts):
            old, new = (found["verdicts"][aspect] for found in (self.old, self.new))
            change = verdict_changes.verdict_change(old, new, metric, self.units, DRAWS, seed)
        elif (
            by_row
            and not any(verdicts)
            and all(score_changes.has_scores(found, aspect, metric) for found in (self.old, self.new))
        ):
            old, new = (found["one_system"][aspect] for found in (self.old, self.new))
            change = score_changes.score_change(old, new, metric, self.units, DRAWS, seed)
        if change is None:
            return self.input_row(aspect, metric, seed), ""
        return {"aspect": aspect, "metric": metric, **change[0]}, f"{metric} on {aspect}: {change[1]}."

    def input_row(self, aspect: str, metric: str, seed: int) -> Row:
        """Return the row of one metric from its values per input; the new run may have none."""
        old = self.old["per_input"]["values"][aspect][metric]
        new = self.new["per_input"]["values"].get(aspect, {}).get(metric)
        new = [None] * len(self.new["per_input"]["inputs"]) if new is None else new
        return {**_row(aspect, metric, old, new, self.common, self.codes, seed), "measure": self.measure}

    def notes(self) -> list[str]:
        """State which inputs are left out, and which count as one unit."""
        notes = []
        left = sum(len(found["per_input"]["inputs"]) - len(self.common) for found in (self.old, self.new))
        if left:
            notes.append(f"{left} inputs of only one of the runs are excluded.")
        units = int(self.codes.max()) + 1
        if units < len(self.common):
            notes.append(
                f"{len(self.common):,} rows belong to {units:,} inputs (trials) or documents, which are the clusters "
                "of "
                "every test."
            )
        return notes


def _decide(rows: list[Row], alpha: float, fail_drop: float) -> int:
    """Add corrected p-values and verdicts to the rows; return the number of tests."""
    tested = [r for r in rows if np.isfinite(r["p"])]
    for row, p in zip(tested, holm([r["p"] for r in tested]), strict=True):
        row["p_corrected"] = float(p)
    for row in rows:
        row["verdict"], row["fails"] = _verdict(row, len(tested), alpha, fail_drop)
    return len(tested)


def _tests_text(measures: Sequence[str], runs: RunPair) -> str:
    """Describe the tests of the measures in the table."""
    by_input = (
        f"{runs.measure}: mean over the {len(runs.common)} shared inputs with a value in both runs; "
        "two-sided sign-flip test of the paired differences, for these systems and inputs of the same population, "
        f"{DRAWS} draws, p = (count + 1) / (draws + 1)."
    )
    by_row = [f"{kind.METHOD}; `inputs` counts these outputs." for its, kind in BY_ROW.items() if its in measures]
    return " ".join([*([by_input] if runs.measure in measures else []), *by_row])


def _lost_values(rows: Sequence[Row]) -> list[str]:
    """State how many values are missing in the new run."""
    lost = sum(r["lost"] for r in rows if r["verdict"] != MISSING)
    if not lost:
        return []
    return [f"{lost} values of the old run are missing in the new one (constant or without a score)."]


def _verdict(row: Row, tested: int, alpha: float, fail_drop: float) -> tuple[str, bool]:
    """Return the verdict on a metric, and whether it fails."""
    if row["lost"] and not row["new_values"]:
        return GONE, True  # a constant judge has no correlation
    change, sure = row["change"], bool(row["p_corrected"] < alpha)
    if sure and change < -fail_drop:
        return WORSE, True
    # Significantly more inputs lost a value than gained one: the mean over the rest is not comparable.
    n, lost = row["lost"] + row["gained"], row["lost"]
    if sum(math.comb(n, k) for k in range(lost, n + 1)) / 2**n < alpha:
        return LOST, False
    if not np.isfinite(row["p"]):
        return ALONE, False
    if row["least_p"] * tested >= alpha:
        return FEW, False
    if change == 0:
        return SAME, False
    return ((WORSE if sure else LOWER) if change < 0 else BETTER if sure else HIGHER), False


def _made_otherwise(runs: RunPair, metrics: Sequence[str]) -> list[str]:
    """Return notes that name metrics and judges whose model, prompt, endpoint or settings differ between the runs."""
    changed = {m: made_otherwise(*(found["signatures"].get(m) for found in (runs.old, runs.new))) for m in metrics}
    return [f"{metric} changed: {', '.join(what)}." for metric, what in changed.items() if what]


def _measure(files: tuple[Results, Results], paths: tuple[Path, Path], asked: str | None) -> str:
    wanted = str(Measure.parse(asked)) if asked else files[0]["per_input"].get("measure")
    for path, found in zip(paths, files, strict=True):
        there = found["per_input"].get("measure")
        if there != wanted:
            raise DataError(
                f"{path}: it has values per input of {there}, not of {wanted}; write it with "
                f"{call('run FILE', gate=wanted)}."
            )
    return str(wanted)


def _shared(
    old: dict[str, Any],
    new: dict[str, Any],
    aspects: Sequence[str] | None,
    metrics: Sequence[str] | None,
    paths: tuple[Path, Path],
) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[str]]:
    """Return the aspects and metrics of both runs, and those that are missing in the new one."""
    every = [{(a, m) for a in values for m in values[a]} for values in (old, new)]
    for path, there in zip(paths, every, strict=True):
        for kind, asked, known in (
            ("aspect", aspects, {a for a, _ in there}),
            ("metric", metrics, {m for _, m in there}),
        ):
            if unknown := [n for n in asked or () if n not in known]:
                raise NameUnknown(f"{path}: no {kind} '{unknown[0]}'.{did_you_mean(unknown[0], sorted(known))}")
    chosen = [(a, m) for a in old for m in old[a] if (not aspects or a in aspects) and (not metrics or m in metrics)]
    wanted = [pair for pair in chosen if pair in every[1]]
    if not wanted:
        raise DataError(f"{paths[0]} and {paths[1]}: the runs have no metric and aspect in common.")
    more = sorted({m for _, m in every[1]} - {m for _, m in every[0]})
    notes = [f"only in {paths[1].name}: {', '.join(more)}."] if more else []
    return wanted, [pair for pair in chosen if pair not in every[1]], notes


def _codes(names: Sequence[str]) -> Ints:
    """Number the names in the order of their first occurrence."""
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([place[name] for name in names], np.int64)


def _row(
    aspect: str, metric: str, old: list[Any], new: list[Any], common: list[tuple[int, int]], codes: Ints, seed: int
) -> Row:
    a = np.array([np.nan if old[i] is None else old[i] for i, _ in common], float)
    b = np.array([np.nan if new[j] is None else new[j] for _, j in common], float)
    both = np.isfinite(a) & np.isfinite(b)
    counts = {
        "lost": int((np.isfinite(a) & ~np.isfinite(b)).sum()),
        "gained": int((~np.isfinite(a) & np.isfinite(b)).sum()),
        "new_values": int(np.isfinite(b).sum()),
    }
    a, b = a[both], b[both]
    mean = [float(v.mean()) if len(v) else float("nan") for v in (a, b)]
    # One seed for all rows: p depends neither on the other metrics nor on their order.
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    unit = np.unique(codes[both], return_inverse=True)[1]
    sums = [np.bincount(unit, v).astype(float) for v in (b, a)]
    n = len(sums[0])
    p = mean_test(sums[0], sums[1], "permutation", draws=DRAWS, rng=rng) if n > 1 else float("nan")
    change = float((b - a).mean()) if len(a) else float("nan")
    return {
        "aspect": aspect,
        "metric": metric,
        "old": mean[0],
        "new": mean[1],
        "change": change,
        "p": p,
        "p_corrected": float("nan"),
        "inputs": n,
        "least_p": max(2.0 ** (1 - n), 1 / (DRAWS + 1)),
        **counts,
    }


def _differences(runs: RunPair) -> list[str]:
    """State what else differs between the two runs."""
    return [
        f"{word}: {runs.old.get(key)} in the old run, {runs.new.get(key)} in the new one."
        for key, word in (("data", "data"), ("nlgauge", "NLGauge"), ("seed", "seed"))
        if runs.old.get(key) != runs.new.get(key)
    ]


def verdict_words(table: Table, fail_drop: float) -> tuple[int, str]:
    """Return the exit code (passed, failed or inconclusive) and its sentence."""
    failed = [r for r in table if r["fails"]]
    if failed:
        named = ", ".join(
            f"{r['metric']} on {r['aspect']} "
            + (GONE if r["verdict"] == GONE else f"{r['change']:+.3f} (p {r['p_corrected']:.3g})")
            for r in failed[:5]
        )
        more = f" and {len(failed) - 5} more" if len(failed) > 5 else ""
        return FAIL, f"fails: dropped by more than {fail_drop:g}, significantly: {named}{more}."
    unknown = [r for r in table if r["verdict"] in UNKNOWN]
    if unknown:
        named = "; ".join(f"{r['metric']} on {r['aspect']}: {_why(r)}" for r in unknown[:5])
        more = f"; and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        return (
            INCONCLUSIVE,
            f"inconclusive, which does not pass: {named}{more}. {option('metrics')} and {option('aspect')} select "
            "what to compare.",
        )
    unsure = [r for r in table if r["change"] < -fail_drop]
    if unsure:
        worst = min(unsure, key=lambda r: r["change"])
        return PASS, (
            f"passes: {len(unsure)} dropped by more than {fail_drop:g} (most {worst['metric']} on {worst['aspect']}, "
            f"{worst['change']:+.3f}), none significantly."
        )
    return PASS, f"passes: nothing dropped by more than {fail_drop:g}."


def _why(row: Row) -> str:
    return {
        MISSING: f"it is not in the new run ({call('judge FILE', name=SOME)} sets the name of a judge)",
        ALONE: "no rated output has a value in both runs, or all values are equal"
        if row["measure"] in BY_ROW
        else f"no two inputs have a value of {row['measure']} in both runs, which requires several systems (a single "
        "system is compared if a judge gives verdicts, or scores, in both runs)",
        FEW: f"with {row['inputs']} {'labeled outputs' if row['measure'] in BY_ROW else 'inputs'} and this many "
        "comparisons no drop could be significant",
        LOST: f"{row['lost']} inputs lost their value and {row['gained']} gained one (constant or without a score)",
    }[row["verdict"]]
