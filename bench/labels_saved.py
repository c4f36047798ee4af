"""Labels that `nlgauge label` saves against random labelling at the same width of the interval, and its coverage.

    python -m bench.labels_saved                                      all cells that out/labels_saved.json does not hold yet
    python -m bench.labels_saved --write docs/labels_saved.md         and the tables of the page (about 20 minutes on one core)
    python -m bench.labels_saved --only "widths wmt23"                cells whose name begins so

Rows of published sets with ratings of people are drawn with replacement to make a population whose mean is known (that
of the set); labels of the rows that a design draws are shown to the estimator, all others are hidden. Width and
coverage are over repetitions; the labels that random labelling without a judge would need for the same mean width are
read off its own curve, log-linear between sizes. The judge is the mean relative rank of all metrics of the set: nothing
about it is chosen with the ratings. The ends of the scale are those of the labels shown, as the command takes them.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench import threshold_labels
from bench._cells import cells_or_page, fingerprint
from nlgauge.analyses.design import next_labels
from nlgauge.analyses.design.next_labels import LEAST_LEARNED, Population, draw_rows
from nlgauge.datasets import load_set
from nlgauge.stats.design import label_sampling
from nlgauge.stats.design.label_sampling import combined_probability, relative_ranks
from nlgauge.stats.estimation import means, shares
from nlgauge.stats.estimation.means import PartlyLabeled, mean_estimate

SUMMEVAL = ["coherence", "consistency", "fluency", "relevance"]
HANNA = {
    "Relevance": "RE", "Coherence": "CH", "Empathy": "EM", "Surprise": "SU", "Engagement": "EG", "Complexity": "CX",
}  # fmt: skip
USR = ["Overall", "Natural", "Engaging"]
SETS = {  # name of the catalogue, and what is different
    "summeval": SUMMEVAL,
    "summeval, judge gpt-4 (12 systems)": SUMMEVAL,
    "hanna": list(HANNA),
    "hanna, with human stories": list(HANNA),
    "hanna, with human stories, judge five language models": list(HANNA),
    "wmt23-zh-en": ["mqm"],
    "usr-persona": USR,
    "usr-topical": USR,
    "usr-persona, judge unieval": USR,
    "usr-topical, judge unieval": USR,
}
DATA = Path(os.environ.get("NLGAUGE_DATA", "data"))  # as for `nlgauge data`
SIZES = (40, 80, 160)
CURVE = (20, 30, 40, 60, 80, 120, 160, 240, 400, 800)  # of random labelling
MOST = 2000  # outputs of a population
DESIGNS = ("random", "stratified", "disagreement", "diverse", "stratified, then optimal")
SHOWN = ("labels only", *DESIGNS)
SELDOM = ("disagreement", "diverse")  # on the set on which designs were chosen only
REPETITIONS, MORE = 100, {"wmt23-zh-en": 600}  # of each aspect; one aspect, and skewed
ERRORS = ("summeval", "hanna", "usr-topical")  # sets in which every system has every input
KEPT = Path("out/labels_saved.json")


def rows_of(name: str, aspect: str) -> dict[str, Any]:
    name, _, other = name.partition(", ")
    data = load_set(name)
    values = data.ratings.filter(pl.col("aspect") == aspect).group_by("system", "input").agg(pl.col("value").mean())
    left = [] if "human" in other else sorted(data.human_systems)
    frame = data.scores.join(values, on=["system", "input"]).filter(~pl.col("system").is_in(left))
    frame = frame.sort("system", "input")
    metrics, lower = data.metrics, data.lower
    if "unieval" in other:
        metrics = ["overall_unieval"]
    elif "judge" in other:
        models = gpt4(aspect) if name == "summeval" else language_models(aspect)
        metrics, lower = [c for c in models.columns if c not in ("system", "input")], frozenset()
        frame = frame.select("system", "input", "value").join(models, on=["system", "input"]).sort("system", "input")
    scores = frame.select(metrics).cast(pl.Float64).to_numpy().T
    scores = scores * np.array([-1.0 if m in lower else 1.0 for m in metrics])[:, None]
    scores = scores[(np.isfinite(scores).mean(axis=1) > 0.9) & (np.nanstd(scores, axis=1) > 0)]
    codes = np.unique(frame["system"].to_numpy(), return_inverse=True)[1]
    units = np.unique(frame["input"].to_numpy(), return_inverse=True)[1]
    return {
        "y": frame["value"].to_numpy(),
        "scores": relative_ranks(scores),
        "system": codes.astype(np.int64),
        "unit": units,
    }


def gpt4(aspect: str) -> pl.DataFrame:
    """SummEval's outputs of twelve systems as gpt-4-0314 rated them on this aspect (Shen et al. 2023)."""
    with gzip.open(DATA / "summeval" / "summeval_llm_judge_responses.jsonl.gz", "rt", encoding="utf-8") as file:
        replies = [json.loads(line) for line in file]
    mine = [r for r in replies if (r["evaluator"], r["method"], r["aspect"]) == ("gpt-4-0314", "rts", aspect)]
    frame = pl.DataFrame({k: [r[k] for r in mine] for k in ("system", "id", "score_parsed_here")}, strict=False)
    return (
        frame.rename({"id": "input"}).group_by("system", "input").agg(pl.col("score_parsed_here").mean().alias("gpt4"))
    )


def language_models(aspect: str) -> pl.DataFrame:
    """HANNA's stories as five language models with four prompts each rated them on this aspect; -1 is no answer."""
    frame = pl.read_parquet(DATA / "hanna" / "hanna_scores_long.parquet")
    mine = [c for c in frame.columns if f" {HANNA[aspect]} " in c and not c.startswith("Human")]
    keys = load_set("hanna").samples.select("system", "input")
    frame = frame.select(
        pl.col("model").alias("system"),
        pl.col("prompt_idx").cast(pl.String).alias("input"),
        *(pl.when(pl.col(c) >= 0).then(pl.col(c)).alias(c) for c in mine),
    )
    return keys.join(frame, on=["system", "input"])


def labels_of(people: Population, y: np.ndarray, n: int, design: str, rng: np.random.Generator) -> Any:
    """Labels and probabilities of a design; the second half of a design in two draws is aimed by the first."""
    probability, draw = np.full(len(y), np.nan), np.zeros(len(y), np.int64)
    steps = [d.strip() for d in design.replace("then", "").split(",")]
    for k, how in enumerate(steps):
        free = np.flatnonzero(np.isnan(people.labels))
        count = n // 2 if k == 0 and len(steps) > 1 else n - int(np.isfinite(people.labels).sum())
        found, _ = draw_rows(people, free, count, "estimate", how, None, rng)  # type: ignore[arg-type]
        rows = free[found.rows]
        people.labels[rows] = y[rows]
        probability[rows], draw[rows] = found.probability[found.rows], k
    known = draw[np.isfinite(people.labels)]
    if len(steps) > 1:
        probability[np.isfinite(people.labels)] = combined_probability(probability[np.isfinite(people.labels)], known)
    return people.labels, probability


def ends(labels: np.ndarray) -> tuple[float, float]:
    return float(np.nanmin(labels)), float(np.nanmax(labels))


def measured(
    name: str, aspect: str, repetitions: int, seed: int, designs: Sequence[str] = DESIGNS
) -> list[dict[str, Any]]:
    given = rows_of(name, aspect)
    size, truth = min(len(given["y"]), MOST), float(given["y"].mean())
    rng = np.random.default_rng(seed)
    kept: dict[tuple[str, int], list[tuple[float, bool]]] = {}

    def keep(design: str, n: int, found: Any) -> None:
        kept.setdefault((design, n), []).append((float(found.width), bool(found.low <= truth <= found.high)))

    for _ in range(repetitions):
        at = np.sort(rng.integers(len(given["y"]), size=size))
        y, system, scores = given["y"][at], given["system"][at], given["scores"][:, at]
        judge = np.nan_to_num(scores, nan=0.5).mean(axis=0)
        order = rng.permutation(size)
        for n in (c for c in CURVE if c <= size):
            labels = np.full(size, np.nan)
            labels[order[:n]] = y[order[:n]]
            keep("labels only", n, mean_estimate(PartlyLabeled(labels, bounds=ends(labels)), "labels"))
        for design in designs:
            least = 2 * LEAST_LEARNED if "optimal" in design else 1
            shown = scores if design in ("disagreement", "diverse") else judge[None]
            for n in (s for s in SIZES if least <= s <= size / 2):
                people = Population(pl.DataFrame(), [], shown, np.full(size, np.nan), np.ones(size), 1, system, at, [])
                labels, probability = labels_of(people, y, n, design, rng)
                strata = system if "stratified" in design and n >= 3 * (system.max() + 1) else None
                own = None if design in ("random", "diverse") else probability
                keep(design, n, mean_estimate(PartlyLabeled(labels, judge, own, strata, bounds=ends(labels))))
    return [
        {
            "set": name,
            "aspect": aspect,
            "design": design,
            "n": n,
            "rows": size,
            "seed": seed,
            "width": [round(w, 5) for w, _ in found],
            "covered": int(sum(c for _, c in found)),
        }
        for (design, n), found in kept.items()
    ]


def errors(name: str, aspect: str, repetitions: int, seed: int, n: int = 160) -> list[dict[str, Any]]:
    """Squared errors of a judge's correlation with people, and of differences between systems, under designs for them.

    Inputs are drawn with replacement, each with the outputs of all systems. The correlation weighs by the inverse of
    the probability; system means are of labels only. `aimed`: the second half goes to systems whose order is open.
    """
    given = rows_of(name, aspect)
    units = given["unit"].max() + 1
    rng = np.random.default_rng(seed)
    kept: dict[tuple[str, str], list[float]] = {}
    judge = np.nan_to_num(given["scores"], nan=0.5).mean(axis=0)
    true_r = np.corrcoef(judge, given["y"])[0, 1]
    true_mean = np.bincount(given["system"], given["y"]) / np.bincount(given["system"])
    by_unit = [np.flatnonzero(given["unit"] == u) for u in range(units)]
    for _ in range(repetitions):
        drawn = rng.integers(units, size=min(units, 200))
        at = np.concatenate([by_unit[u] for u in drawn])
        unit = np.repeat(np.arange(len(drawn)), [len(by_unit[u]) for u in drawn])
        y, system, score = given["y"][at], given["system"][at], judge[at]
        shown = given["scores"][:, at]
        for goal, design in [("agreement", d) for d in ("random", "stratified", "optimal", "disagreement")] + [
            ("ranking", d) for d in ("random", "optimal", "aimed")
        ]:
            labels = np.full(len(y), np.nan)
            people = Population(
                pl.DataFrame(),
                [],
                shown if design == "disagreement" else score[None],
                labels,
                labels,
                1,
                system,
                unit,
                [],
            )
            for count in (n // 2, n - n // 2) if design == "aimed" else (n,):
                free = np.flatnonzero(np.isnan(labels))
                how: Any = "optimal" if design == "aimed" else design
                found, _ = draw_rows(people, free, count, goal, how, None, rng)  # type: ignore[arg-type]
                labels[free[found.rows]] = y[free[found.rows]]
            known = np.isfinite(labels)
            if goal == "agreement":
                w = 1 / found.probability[np.isin(free, np.flatnonzero(known))]
                cov = np.cov(score[known], labels[known], aweights=w)
                error = (cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]) - true_r) ** 2
            else:
                count_of = np.bincount(system[known], minlength=len(true_mean))
                mean = np.bincount(system[known], labels[known], minlength=len(true_mean)) / np.maximum(count_of, 1)
                gap = (mean[:, None] - mean) - (true_mean[:, None] - true_mean)
                error = float((gap**2).sum() / (len(mean) * (len(mean) - 1)))
                wrong = (np.sign(mean[:, None] - mean) != np.sign(true_mean[:, None] - true_mean)).sum()
                kept.setdefault(("order", design), []).append(float(wrong / (len(mean) * (len(mean) - 1))))
            kept.setdefault((goal, design), []).append(float(error))
    return [
        {"set": name, "aspect": aspect, "goal": goal, "design": design, "n": n, "seed": seed, "errors": found}
        for (goal, design), found in kept.items()
    ]


def errors_table(rows: list[dict[str, Any]]) -> str:
    """Labels saved at the same mean squared error, with its 95 % interval over repetitions; pairs in the wrong order."""
    rng = np.random.default_rng(0)
    lines = ["| set | for | design | labels saved | pairs in the wrong order |", "| --- | --- | --- | ---: | ---: |"]
    for name in dict.fromkeys(r["set"] for r in rows):
        for goal, design in dict.fromkeys((r["goal"], r["design"]) for r in rows if r["goal"] != "order"):
            found = {r["design"]: [] for r in rows}
            for r in rows:
                if (r["set"], r["goal"]) == (name, goal):
                    found[r["design"]].append(r["errors"])
            mine, random = np.array(found[design]), np.array(found["random"])
            at = [np.arange(mine.shape[1]), *rng.integers(mine.shape[1], size=(400, mine.shape[1]))]
            saved = [float(np.mean(1 - mine[:, k].mean(axis=1) / random[:, k].mean(axis=1))) for k in at]
            low, high = np.quantile(saved[1:], [0.025, 0.975])
            wrong = [
                np.mean(r["errors"]) for r in rows if (r["set"], r["goal"], r["design"]) == (name, "order", design)
            ]
            order = f"{100 * np.mean(wrong):.1f} %" if goal == "ranking" else ""
            lines.append(
                f"| {name} | {goal} | {design} | {100 * saved[0]:.0f} % [{100 * low:.0f} {100 * high:.0f}] | {order} |"
            )
    return "\n".join(lines)


def table(rows: list[dict[str, Any]]) -> str:
    """Mean over the aspects of a set of the share of labels saved, its 95 % interval over repetitions, and coverage."""
    rng = np.random.default_rng(0)
    lines = ["| set | labels | design | labels saved | coverage |", "| --- | ---: | --- | ---: | ---: |"]
    for name in dict.fromkeys(r["set"] for r in rows):
        for n in SIZES:
            for design in SHOWN:
                found = [r for r in rows if (r["set"], r["design"], r["n"]) == (name, design, n)]
                if not found or n > found[0]["rows"] / 2:
                    continue
                saved = np.array([_saved(rows, r, rng) for r in found])  # aspects × (value, draws)
                low, high = np.quantile(saved[:, 1:].mean(axis=0), [0.025, 0.975])
                count = sum(int(np.isfinite(r["width"]).sum()) for r in found)
                cover = sum(r["covered"] for r in found) / count
                chance = np.sqrt(cover * (1 - cover) / count)
                share = f"{100 * saved[:, 0].mean():.0f} % [{100 * low:.0f} {100 * high:.0f}]"
                lines.append(
                    f"| {name} | {n} | {design} | {'' if design == 'labels only' else share} "
                    f"| {cover:.3f} ± {chance:.3f} |".replace(" 0.", " .")
                )
    return "\n".join(lines)


def _saved(rows: list[dict[str, Any]], mine: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Share of labels saved: by the mean widths, then for resampled repetitions."""
    alone = [r for r in rows if (r["set"], r["aspect"], r["design"]) == (mine["set"], mine["aspect"], "labels only")]
    alone.sort(key=lambda r: r["n"])
    sizes, widths = np.log([r["n"] for r in alone]), np.array([r["width"] for r in alone])
    own = np.array(mine["width"])
    found = []
    for k in range(201):
        at = np.arange(len(own)) if k == 0 else rng.integers(len(own), size=len(own))
        curve = np.log(np.nanmean(widths[:, at], axis=1))[::-1]  # labels that are all alike have no width
        found.append(1 - mine["n"] / np.exp(np.interp(np.log(np.nanmean(own[at])), curve, sizes[::-1])))
    return np.array(found)


def cells() -> Iterator[tuple[str, Callable[[], list[dict[str, Any]]]]]:
    for name, aspects in SETS.items():
        designs = [d for d in DESIGNS if name == "summeval" or d not in SELDOM]
        for aspect in aspects:
            yield f"widths {name} {aspect}", partial(measured, name, aspect, MORE.get(name, REPETITIONS), 1, designs)
    for name in ERRORS:
        for aspect in SETS[name]:
            yield f"errors {name} {aspect}", partial(errors, name, aspect, 2 * REPETITIONS, 1)
    for case in threshold_labels.CASES:
        yield f"threshold {case}", partial(threshold_labels.measured, *case)


def compute(only: str = "") -> dict[str, Any]:
    """All cells, from the file where they are known; those that other code made are computed again."""
    kept: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    KEPT.parent.mkdir(exist_ok=True)
    made_by = fingerprint(
        means,
        shares,
        label_sampling,
        next_labels.draw_rows,
        next_labels.Population,
        measured,
        errors,
        rows_of,
        labels_of,
        threshold_labels.measured,
    )
    for name, work in cells():
        if name.startswith(only) and kept.get(name, {}).get("code") != made_by:
            kept[name] = {"code": made_by, "rows": work()}
            KEPT.write_text(json.dumps(kept))
            print(name, flush=True)
    return kept


def tables(kept: dict[str, Any]) -> dict[str, str]:
    """Of the page, by the names of their places in it."""
    rows = {
        part: [row for name, _ in cells() if name.startswith(part) and name in kept for row in kept[name]["rows"]]
        for part in ("widths", "errors", "threshold")
    }
    return {
        "labels saved": table(rows["widths"]) + "\n",
        "other purposes": errors_table(rows["errors"]) + "\n",
        "threshold": threshold_labels.table(rows["threshold"]) + "\n",
    }


if __name__ == "__main__":
    cells_or_page("labels_saved", __doc__ or "", KEPT, compute, tables)
