"""gao2025, Tables 2, 3, 6, 7 and Figures 7 to 36, from the scores that the authors released (set gao2025-scores).

The rules are those of the authors' programs (github.com/kite99520/NLGCorrEval, DP_RC): all systems × inputs of a set
and aspect, 32 metrics, a missing value counts as 0, permutation of both systems and inputs with 999 draws, 1,000 random
halves of the inputs. The file itself was not seen: names of sets and aspects are matched without regard to case and
punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean

import numpy as np

from nlgauge import NlgaugeError, Table, analyze
from nlgauge.plugins import NameUnknown, Panel
from nlgauge.stats import TWELVE, Measure, discriminative_power, permutation_pairs, ranking_consistency
from nlgauge_papers import Key, Ours, Sources, further, study
from nlgauge_papers.common import Array
from nlgauge_papers.gao2025.measures import numbered

SET = "gao2025-scores"
PROFILE, DRAWS, TRIALS = "nlgcorreval", 999, 1000
LEVELS = {"system": "System", "input": "Input", "item": "Item", "global": "Global"}
# The authors' names of sets, as their programs spell them, where they are not those of the paper.
SET_NAMES = {"googlemqm": "wmt23", "wmt": "wmt23", "openmeva": "mans", "webnlg": "webnlg2020"}
SUBSETS = {"ROC": ("roc",), "WP": ("wp", "writingprompts"), "Persona-Chat": ("persona", "pc"),
           "Topical-Chat": ("topical", "tc")}  # fmt: skip
# Table 6 lists 28 of the 32 metrics under its own names; the judges have the same names.
TABLE_6 = {
    "BERTScore-f": "bertscore_f", "BERTScore-p": "bertscore_p", "BERTScore-r": "bertscore_r", "BLEU": "bleu",
    "CHRf": "chrf", "COMET": "comet", "MoverScore": "moverscore", "ROUGE-1": "rouge1", "ROUGE-2": "rouge2",
    "ROUGE-L": "rougeL",
}  # fmt: skip
PERCENT = ("bleu", "chrf")


def plain(name: str) -> str:
    """Reduce a name to its letters and digits.

    >>> plain("Persona-Chat")
    'personachat'
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def number_of(dataset: str, subset: str, aspect: str) -> str | None:
    """Return the paper's number of a set, D1 to D30, from the authors' names; None without a match.

    >>> number_of("google_mqm", "GeneralMT2023_NEWS", "mqm")
    'D5'
    """
    name = SET_NAMES.get(plain(dataset), plain(dataset))
    fitting = [(d, part, a) for d, part, a in numbered() if plain(part.set) == name]
    if len({a for _, _, a in fitting}) > 1:
        fitting = [one for one in fitting if plain(one[2]) == plain(aspect)]
    if len(fitting) > 1:
        fitting = [one for one in fitting if any(s in plain(subset) for s in SUBSETS[one[1].subset])]
    return fitting[0][0] if len(fitting) == 1 else None


@lru_cache(maxsize=1)
def panels(sources: Sources) -> dict[str, Panel]:
    """Return the panel of each set, D1 to D30, with the scores of all metrics scaled to [0, 1]."""
    results: dict[str, Panel] = {}
    for group, part in sources(SET).by("dataset", "ori_dataset", "aspect"):
        number = number_of(*(str(group[c]) for c in ("dataset", "ori_dataset", "aspect")))
        if number is None:
            raise NlgaugeError(f"{SET}: no set of the paper's D1 to D30 fits {', '.join(map(str, group.values()))}.")
        panel = part.panel("human_score", keep_human=True)
        results[number] = replace(panel, metrics={name: unit_scale(name, v) for name, v in panel.metrics.items()})
    return results


def unit_scale(name: str, values: Array) -> Array:
    """Bring scores to 0 to 1 where they are not: by the scale in a judge's name, or from percent.

    >>> unit_scale("GPT4_T=0_1_5", np.array([1.0, 3.0, 5.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    scale = re.search(r"_(\d+)_(\d+)$", name)
    low, high = (float(scale[1]), float(scale[2])) if scale else (0.0, 100.0 if name in PERCENT else 1.0)
    # On 0 to 1 a metric may pass 1 by a little; a scale of 5 or 100 is passed by far.
    return (values - low) / (high - low) if values.size and np.nanmax(values) > 2 else values


def measure_key(measure: Measure) -> tuple[str, str]:
    """Return level and function as the paper's tables name them."""
    level, _, coefficient = str(measure).partition("/")
    return LEVELS[level], coefficient.capitalize()


def each_set(sources: Sources, what: str) -> Sequence[tuple[str, Panel]]:
    """Yield the sets in the paper's order, with progress."""
    there = panels(sources)
    sources.tell(f"{what} on {len(there)} sets")
    return [(number, there[number]) for number, _, _ in numbered() if number in there]


def measured(values: Array) -> dict[tuple[str, str], float]:
    """Return one value per measure, by level and function."""
    return {measure_key(m): float(v) for m, v in zip(TWELVE, values, strict=True)}


@study("gao2025", "2", title="Discriminative power of 12 measures, permutation test", sets=[SET], tolerance=0.01)
def table_2(sources: Sources) -> Ours:
    """Compute the mean p-value over all pairs of metrics."""
    values: dict[Key, float] = {}
    for number, panel in each_set(sources, "permutation tests"):
        tests = permutation_pairs(panel.stacked(), panel.human, TWELVE, draws=DRAWS, profile=PROFILE)
        values |= {(number, *key): v for key, v in measured(discriminative_power(tests.p)).items()}
        sources.tell(f"{number}: {len(panel.metrics)} metrics, {panel.human.shape[0]} × {panel.human.shape[1]}")
    return Ours(values, {(): RANDOM}, [f"permutation of systems and inputs, {DRAWS} draws; random draws differ."])


@study("gao2025", "3", title="Ranking consistency of 12 measures", sets=[SET], tolerance=0.01)
def table_3(sources: Sources) -> Ours:
    """Compute the mean tau-b of the rankings of the metrics on two halves of the inputs."""
    values: dict[Key, float] = {}
    for number, panel in each_set(sources, "ranking consistency"):
        result = ranking_consistency(zeros(panel.stacked()), zeros(panel.human), TWELVE, trials=TRIALS)
        values |= {(number, *key): v for key, v in measured(result.value).items()}
    return Ours(values, {(): RANDOM}, [f"{TRIALS} random halves of the inputs; random draws differ."])


@study("gao2025", "7", title="Discriminative power of 12 measures, Williams' test", sets=[SET], tolerance=0.001)
def table_7(sources: Sources) -> Ours:
    """Compute the mean p-value over all pairs of metrics by Williams' test."""
    values: dict[Key, float] = {}
    for number, panel in each_set(sources, "Williams' tests"):
        rows = analyze("stability", panel, test="williams", profile=PROFILE, trials=2)
        values |= {(number, *measure_key(row["measure"])): float(row["dp"]) for row in rows}
    return Ours(values)


RANDOM = "the authors' random draws are not known; 999 or 1,000 draws leave a standard error below .01"


def zeros(values: Array) -> Array:
    """Replace missing values by 0, as in the authors' programs."""
    return np.nan_to_num(values, nan=0.0)


def parameters_of(sources: Sources, columns: dict[str, str]) -> dict[Key, float]:
    """Compute Table 6 for all its metrics as means over the sets; `columns` maps the paper's parameters to ours."""
    names = {column: metric for metric, column in TABLE_6.items()}
    gathered: dict[Key, list[float]] = {}
    for _, panel in each_set(sources, "parameters of the metrics"):
        for row in analyze("parameters", panel).rows[1:]:
            for parameter, column in columns.items():
                if row[column] is not None:
                    key = str(names.get(row["variable"], row["variable"])), parameter
                    gathered.setdefault(key, []).append(float(row[column]))
    return {key: fmean(values) for key, values in gathered.items()}


@further("gao2025", "figures", title="Figures 7 to 36: p-value curves of the 12 measures on D1 to D30", sets=[SET])
def figures(sources: Sources, set: str = "") -> list[Table]:
    """Compute DP and RC of each measure with the p-value curves; `set=D7` selects one set, and `-o d7.svg` plots it."""
    there = panels(sources)
    if set and set not in there:
        raise NameUnknown(f"gao2025/figures: no set '{set}'. There are {', '.join(there)}.")
    results = []
    for number, panel in each_set(sources, "p-value curves"):
        if set in ("", number):
            results.append(analyze("stability", replace(panel, name=number), draws=DRAWS, profile=PROFILE))
    return results
