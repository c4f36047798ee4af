"""Discriminative power and ranking consistency of twelve measures on published sets, beside gao2025's takeaways.

    NLGAUGE_DATA=... python bench/gao2025.py                        all sets but WMT23, 1000 draws and trials
    NLGAUGE_DATA=... python bench/gao2025.py --draws 200 wmt23      one set, fewer draws

DP (Table 2): mean p of the permutation test PERM-BOTH over all metric pairs, lower is better. RC (Table 3): mean tau-b
of the metric rankings on two halves of the inputs, higher is better. Means over the aspects of a set. People stay among
the systems, as in the paper; the metrics are those published with each set, not the paper's 32 (we do not have its GPT
scores).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.analyses.design.stability import stability
from nlgauge.datasets import load_set
from nlgauge.number import number
from nlgauge.stats.correlation.measure import TWELVE

MEASURES = [str(m) for m in TWELVE]
LEVELS = ("system", "input", "global", "item")
COEFFICIENTS = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class Study:
    """A set of the catalogue, the aspects to use (all without a word), and the paper's DP and RC for the same aspects."""

    name: str
    options: dict[str, str]
    aspects: tuple[str, ...] = ()
    columns: tuple[int, ...] = ()  # its numbers D1 … D30 in the paper


STUDIES = {
    "summeval": Study("summeval", {}, ("coherence", "consistency", "fluency", "relevance"), (1, 2, 3, 4)),
    "realsumm": Study("realsumm", {}, ("litepyramid_recall",)),
    "usr-persona": Study("usr-persona", {}, (), (14, 15, 16, 17, 18, 19)),
    "usr-topical": Study("usr-topical", {}, (), (20, 21, 22, 23, 24, 25)),
    "hanna": Study("hanna", {}, (), (6, 7, 8, 9, 10, 11)),
    "wmt23": Study("wmt23-zh-en", {"domain": "news"}, ("mqm",), (5,)),
}
# Tables 2 and 3, means over the columns of each set, measures in the order of TWELVE.
PAPER_DP = {
    "summeval": (0.107, 0.147, 0.179, 0.065, 0.090, 0.088, 0.064, 0.094, 0.090, 0.119, 0.134, 0.138),
    "hanna": (0.072, 0.192, 0.236, 0.115, 0.112, 0.117, 0.098, 0.094, 0.099, 0.162, 0.170, 0.181),
    "usr-persona": (0.231, 0.393, 0.416, 0.210, 0.246, 0.248, 0.187, 0.191, 0.194, 0.247, 0.263, 0.274),
    "usr-topical": (0.140, 0.596, 0.658, 0.133, 0.162, 0.165, 0.120, 0.128, 0.133, 0.199, 0.218, 0.229),
    "wmt23": (0.056, 0.159, 0.171, 0.077, 0.085, 0.061, 0.035, 0.023, 0.053, 0.038, 0.027, 0.041),
}
PAPER_RC = {
    "summeval": (0.776, 0.756, 0.747, 0.910, 0.847, 0.896, 0.903, 0.825, 0.857, 0.902, 0.767, 0.866),
    "hanna": (0.931, 0.647, 0.634, 0.952, 0.868, 0.897, 0.946, 0.863, 0.911, 0.886, 0.850, 0.898),
    "usr-persona": (0.823, 0.721, 0.725, 0.845, 0.695, 0.772, 0.882, 0.745, 0.811, 0.849, 0.682, 0.807),
    "usr-topical": (0.802, 0.317, 0.332, 0.828, 0.706, 0.788, 0.865, 0.729, 0.772, 0.844, 0.703, 0.812),
    "wmt23": (0.911, 0.679, 0.702, 0.954, 0.790, 0.905, 0.877, 0.835, 0.841, 0.898, 0.851, 0.880),
}
NEAR = 0.05  # what ≈ is taken to mean
TAKEAWAYS = {
    "DP by level": "global < input < item < system",
    "DP by coefficient": "pearson < spearman < kendall",
    "RC by level": "input ≈ global > item > system",
    "RC by coefficient": "pearson > kendall > spearman",
}


def measured(study: Study, draws: int, trials: int, seed: int = 0) -> dict[str, Any]:
    """DP and RC of each measure and aspect, and what it took."""
    data = load_set(study.name, **study.options)
    aspects = study.aspects or tuple(data.aspects)
    start, cpu = time.perf_counter(), time.process_time()
    dp, rc = np.full((len(aspects), 12), np.nan), np.full((len(aspects), 12), np.nan)
    shape, metrics = "", 0
    for a, aspect in enumerate(aspects):
        panel = data.panel(aspect, keep_human=True)
        shape, metrics = f"{panel.n_systems} × {panel.n_inputs}", len(panel.metrics)
        for row in stability(panel, draws=draws, trials=trials, seed=seed):
            at = MEASURES.index(row["measure"])
            dp[a, at], rc[a, at] = row["dp"], row["rc"]
    return {
        "aspects": list(aspects),
        "grid": shape,
        "metrics": metrics,
        "draws": draws,
        "trials": trials,
        "dp": dp.tolist(),
        "rc": rc.tolist(),
        "wall": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
    }


def order(values: Sequence[float], names: Sequence[str], low_first: bool) -> str:
    """Names from best to worst with their means: `global .06 < input .07`."""
    ranked = sorted(zip(values, names, strict=True), reverse=not low_first)
    sign = " < " if low_first else " > "
    return sign.join(f"{name} {number(value)}" for value, name in ranked)


def by_level(values: np.ndarray) -> list[float]:
    return [float(np.nanmean(values[[m.startswith(f"{g}/") for m in MEASURES]])) for g in LEVELS]


def by_coefficient(values: np.ndarray) -> list[float]:
    return [float(np.nanmean(values[[m.endswith(f"/{c}") for m in MEASURES]])) for c in COEFFICIENTS]


def against(values: dict[str, float], takeaway: str) -> list[str]:
    """What of a takeaway these values go against: each name with every later one; ≈ means within .05.

    >>> against({"input": 0.7, "global": 0.9, "item": 0.8}, "input ≈ global > item")
    ['input .700 not ≈ global .900', 'input .700 not > item .800']
    """
    parts = takeaway.split()
    names, signs = parts[::2], parts[1::2]
    broken = []
    for i, a in enumerate(names):
        for j in range(i + 1, len(names)):
            b, steps = names[j], set(signs[i:j]) - {"≈"}
            sign = steps.pop() if steps else "≈"
            x, y = values[a], values[b]
            holds = {"<": x < y, ">": x > y, "≈": abs(x - y) <= NEAR}[sign]
            if not holds:
                broken.append(f"{a} {number(x)} not {sign} {b} {number(y)}")
    return broken


def report(name: str, found: dict[str, Any]) -> str:
    dp, rc = (np.nanmean(np.array(found[k], float), axis=0) for k in ("dp", "rc"))
    head = (
        f"\n### {name}: {found['grid']}, {found['metrics']} metrics, {len(found['aspects'])} aspects, "
        f"{found['draws']} draws, {found['trials']} trials, {found['wall']:.0f} s wall, {found['cpu']:.0f} s CPU\n"
    )
    paper = name in PAPER_DP
    lines = [head, "| measure | DP | RC |" + (" paper DP | paper RC |" if paper else "")]
    lines.append("| --- | ---: | ---: |" + (" ---: | ---: |" if paper else ""))
    for j, m in enumerate(MEASURES):
        theirs = f" {number(PAPER_DP[name][j])} | {number(PAPER_RC[name][j])} |" if paper else ""
        lines.append(f"| `{m}` | {number(dp[j])} | {number(rc[j])} |{theirs}")
    lines.append("")
    for what, values in (("DP", dp), ("RC", rc)):
        for kind, names, means in (
            ("level", LEVELS, by_level(values)),
            ("coefficient", COEFFICIENTS, by_coefficient(values)),
        ):
            takeaway = TAKEAWAYS[f"{what} by {kind}"]
            broken = against(dict(zip(names, means, strict=True)), takeaway)
            verdict = "as the paper" if not broken else "differs: " + "; ".join(broken)
            lines.append(f"- {what} by {kind}: {order(means, names, what == 'DP')} (paper: {takeaway}; {verdict})")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", choices=[*STUDIES, []], help="all but wmt23 by default")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--json", type=Path, help="also keep the numbers, one JSON line a set")
    given = parser.parse_args()
    for name in given.sets or [n for n in STUDIES if n != "wmt23"]:
        found = measured(STUDIES[name], given.draws, given.trials)
        print(report(name, found), flush=True)
        if given.json:
            with given.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"set": name, **found}) + "\n")


if __name__ == "__main__":
    main()
