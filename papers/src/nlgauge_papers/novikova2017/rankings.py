"""Novikova et al. (2017): relative rankings (Tables 4 and 12), examples (Table 5), and numbers in the text.

What the paper does not say about Table 12 was determined by trying variants, with one convention for the whole table:
- a pair is the first output of either system for an MR; the one MR with two LOLS outputs is left out (SFREST 579
  pairs);
- raw scores were compared as *text*, in alphabetical order: 4.28e-09 > 0.26, 10.1 < 9.8, 100.2 < 86.7. With this, every
  printed cell matches to both decimals: an error of the paper. As numbers, which is our value, BLEU-2 to BLEU-4 and RE
  differ by up to 5 points, NIST, CIDEr and BLEU-1 by up to 1;
- quantized: eleven bins of equal width (the half points from 1 to 6) over all 2,460 outputs, compared as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from nlgauge import Dataset, Table, analyze
from nlgauge.datasets import entry, mirror_folder
from nlgauge.plugins import Choice, DataError, Panel
from nlgauge.stats import icc
from nlgauge_papers import Key, NeverPublished, Ours, Sources, published_rows, study
from nlgauge_papers.common import KEY, Array, Mask
from nlgauge_papers.novikova2017._shared import (
    ASPECTS,
    LEVELS,
    METRICS,
    NAMES,
    SET,
    WORD,
    by_key,
    half_points,
    medians,
    unturned,
)
from nlgauge_papers.novikova2017.quantize import quantize
from nlgauge_papers.novikova2017.relative_ranking import orders, relative_ranking, signed_rank_p

TABLE_12 = [*WORD.values(), METRICS["RE"]]
PARTS = ["dataset", "system"]
DRAWS = 200
ONE_DRAW = NeverPublished(
    "the random scores that the authors drew were never published; the mean of random scores is in the notes"
)
COMPARED_AS_TEXT = (
    "the paper's value comes out when raw scores are compared as text, in alphabetical order (1e-09 is above 0.2, 10.1 "
    "below 9.8): all printed raw cells match so to both decimals; as numbers, which is meant, they do not"
)
WORKED = {
    "1": ("LOLS", "inform(name='the donatello',has_internet='yes')"),
    "2": ("LOLS", "inform_no_match(area=embarcadero,kids_allowed=yes,price_range=expensive)"),
    "3": ("TGEN", "inform(name='X',area=riverside,eattype=restaurant,food=Fastfood,pricerange=cheap)"),
    "4": ("RNNLG", "inform_no_match(kids_allowed=yes,food=moroccan)"),
}


@study("novikova2017", "12", title="accuracy of relative rankings, percent", sets=[SET], tolerance=0.2)
def table_12(sources: Sources) -> Ours:
    """Compute the accuracy of relative rankings, raw scores as text and quantized ones as numbers."""
    as_texts, quantized = _rankings(sources)
    slips = _cells(as_texts, "raw", "accuracy")
    numbers = _cells(quantized, "raw", "accuracy")
    reasons: dict[Key, str] = {
        (d, k, a, "rand"): ONE_DRAW
        for d in ("BAGEL", "SFHOTEL", "SFREST")
        for k in ("raw", "quantized")
        for a in ASPECTS
    }
    return Ours(
        numbers | _cells(quantized, "quantized", "quantized", only="SFREST"),
        reasons | dict.fromkeys(slips, COMPARED_AS_TEXT),
        [
            "Pairs: the first output of each system for an MR; the MR with two LOLS outputs is left out. "
            f"{_same(slips, numbers)} of the {len(numbers)} raw cells are the same whether the scores are compared as "
            "numbers or as text.",
            "Quantized: eleven bins of equal width over all outputs, the half points from 1 to 6.",
            f"Random scores reach on the mean of {DRAWS} draws: {_random(quantized)}.",
        ],
        slips=slips,
    )


@study("novikova2017", "4", title="metrics significantly better than a random score (1) or not (0)", sets=[SET])
def table_4(sources: Sources) -> Ours:
    """Compute Wilcoxon's test against random scores that are correct as often as Table 12 prints
    for the authors' draw.
    """
    printed = {
        (r["dataset"], r["data"], r["aspect"]): float(r["printed"])
        for r in published_rows("novikova2017", "12")
        if r["metric"] == "rand"
    }
    values: dict[Key, float] = {}
    plain: dict[Key, float] = {}
    for kind, data in zip(("raw", "quantized"), _scored(sources), strict=True):
        ends = {m: (float(data.scores[m].min()), float(data.scores[m].max())) for m in data.metrics}  # type: ignore[arg-type]
        for group, part in _pairs_of(data).by("dataset"):
            for aspect in ASPECTS:
                key = str(group["dataset"]), kind, aspect
                if key in printed:
                    panel = part.panel(aspect)
                    values |= _better(key, panel, ends, _right_at_random(panel.human, kind == "raw", printed[key]))
                    plain |= _better(key, panel, ends, _right_at_random(panel.human, kind == "raw"))
    why = (
        "the authors' random scores were never published and their test is not given in full. Wilcoxon's test on "
        "right and wrong pairs cannot give these stars from the accuracies printed (BAGEL, naturalness, SIM 43.07 and "
        "random 42.08 are two pairs of 202 apart); on the size of the error, on its square or on the predicted order "
        "it does not give them either"
    )
    return Ours(
        values,
        {(): why},
        [
            "1: above random, median p < .05 against random scores that are right in as many pairs as Table 12 prints "
            "for the authors' own draw (more than 200 draws a column). any draw: the same against 200 draws without "
            "that condition.",
            "The list agrees with the stars of Table 12.",
        ],
        additional={"any draw": plain},
    )


def _right_at_random(human: Array, raw: bool, printed: float | None = None) -> Mask:
    """Return which pairs random scores order as humans do, draw by draw; scores in eleven levels unless raw.

    With `printed`, only draws with that percentage of right pairs: the odds of all pairs are scaled equally until that
    is their mean, which does not affect the distribution given the number of right pairs.
    """
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    rng = np.random.default_rng(0)
    people = orders(human)
    tied = people.sign[people.there] == 0
    alike = 0.0 if raw else 1 / LEVELS  # random scores tie
    odds = logit(np.where(tied, alike, (1 - alike) / 2))
    if printed is None:
        return np.asarray(rng.random((200, len(odds))) < expit(odds))
    right = round(printed / 100 * len(odds))
    raised = brentq(lambda shift: expit(odds + shift).sum() - right, -20, 20)
    draws = np.asarray(rng.random((10_000, len(odds))) < expit(odds + raised))
    return np.asarray(draws[draws.sum(axis=1) == right])


def _better(key: Key, panel: Panel, ends: dict[str, tuple[float, float]], chance: Mask) -> dict[Key, float]:
    """Return 1 for every metric that is correct more often than random scores (median p of the draws < .05)."""
    people = orders(panel.human)
    results: dict[Key, float] = {}
    for metric, scores in panel.metrics.items():
        steps = quantize(scores, LEVELS, ends[metric]) if key[1] == "quantized" else scores
        correct = (orders(-steps if metric in panel.lower else steps).sign == people.sign)[people.there]
        above = correct.sum() > chance.sum(axis=1).mean()
        results[*key, NAMES[metric]] = float(above and np.median(signed_rank_p(correct, chance)) < 0.05)
    return results


@study("novikova2017", "5", title="examples: metrics on the scale 1–6 and human ratings", sets=[SET])
def table_5(sources: Sources) -> Ours:
    """Compute the normalized scores of the four examples."""
    data = medians(sources)
    rated = data.ratings.pivot(on="aspect", index=KEY, values="value")
    frame = data.samples.join(half_points(data).scores, on=KEY).join(rated, on=KEY)
    values: dict[Key, float] = {}
    for number, row in _examples(frame).items():
        overlap = [7 - row[c] if m == "TER" else row[c] for m, c in WORD.items() if m != "SIM"]
        values[number, "WOMs"] = float(np.mean(overlap))
        values[number, "SIM"] = row[WORD["SIM"]]
        values[number, "people"] = float(np.median([row[a] for a in ASPECTS]))
    return Ours(
        values,
        notes=[
            "Normalized as in Table 12: eleven bins over all outputs, as half points from 1 to 6; WOMs is the mean of "
            "TER (turned), BLEU-1 to BLEU-4, ROUGE, NIST, LEPOR, CIDEr and METEOR.",
            "In example 1 the paper prints output and reference exchanged: the data have 'the donatello has "
            "internet' as LOLS's output.",
        ],
    )


@study(
    "novikova2017", "6", title="best correlation of this paper, compared with other papers", sets=[SET], tolerance=0.01
)
def table_6(sources: Sources) -> Ours:
    """Find the highest correlations that the paper reports about itself."""
    result = by_key(analyze("split", unturned(sources), by=PARTS, outputs="independent"), "aspect", "metric", "part")
    wps = max(v for (aspect, metric, _), v in result.items() if (aspect, metric) == (ASPECTS[0], "wps"))
    prs = max(abs(v) for (aspect, metric, _), v in result.items() if aspect != ASPECTS[0] and metric == "prs")
    return Ours(
        {("sentence planning", "wps"): wps, ("surface realisation", "prs"): prs},
        notes=[
            "Only the line of this paper; the others quote seven other papers. It calls the parser's "
            "correlation negative; Table 9 has 0.31."
        ],
    )


@study("novikova2017", "7", title="ICC of the raters", sets=["bagel-individual"])
def table_7(sources: Sources) -> Ours:
    """Compute the ICC as the authors' R script does: one-way ICC of the mean of three judges, over all data two-way;
    aspects are stacked.
    """
    notes = [
        "SFREST, LOLS is lost in the text of the paper. `nlgauge analyze agreement` computes ICC where there are "
        "single "
        "ratings; the medians (bagel-sf) do not show agreement."
    ]
    data = sources("bagel-individual")
    values: dict[Key, float] = {("all", "all"): _agreement(data, ASPECTS, "ICC(C,k)")}
    for group, part in data.by("dataset"):
        name = str(group["dataset"])
        values[name, "all"] = _agreement(part, ASPECTS)
        values |= {(name, aspect): _agreement(part, [aspect]) for aspect in ASPECTS}
        values |= {(name, str(s["system"])): _agreement(half, ASPECTS) for s, half in part.by("system")}
    return Ours(
        values, {(): "the authors' file gives another value (their script's comments have some others too)"}, notes
    )


def _agreement(data: Dataset, aspects: Sequence[str], form: str = "ICC(k)") -> float:
    """Compute the ICC of the judges over the outputs, with the ratings of several aspects stacked."""
    rated = data.ratings.filter(pl.col("aspect").is_in(aspects))
    table = rated.pivot(on="rater", index=[*KEY, "aspect"], values="value").drop(*KEY, "aspect")
    return icc(table.to_numpy().T)[form].value


@study("novikova2017", "text", title="numbers in the text of the paper", sets=[SET], tolerance=0.02)
def sentences(sources: Sources) -> Ours:
    """Compute the numbers in sentences of the paper."""
    data = medians(sources)
    human = {a: data.panel(a).human for a in ASPECTS}
    rated = {a: h[np.isfinite(h)] for a, h in human.items()}
    parts = by_key(analyze("split", data, by=PARTS, outputs="independent"), "aspect", "metric", "part")
    wps = {part: v for (aspect, metric, part), v in parts.items() if (aspect, metric) == (ASPECTS[0], "wps")}
    values: dict[Key, float] = {
        ("naturalness ~ quality, highest of data set and system",): _between(data),
        ("wps ~ informativeness, TGEN on BAGEL",): wps["BAGEL, TGEN"],
        ("wps ~ informativeness elsewhere, highest",): max(abs(v) for k, v in wps.items() if k != "BAGEL, TGEN"),
        ("largest share of bad outputs, per cent",): max(100 * float((h <= 2).mean()) for h in rated.values()),
        ("references of an MR, SFHOTEL and SFREST",): _references(data, ["SFHOTEL", "SFREST"]),
        ("references of an MR, BAGEL",): _references(data, ["BAGEL"]),
    }
    values |= {(f"good outputs, {a}, per cent",): 100 * float((h >= 5).mean()) for a, h in rated.items()}
    return Ours(
        values,
        {("references of an MR, BAGEL",): "6 MRs have two equal references, which the data hold once (a guess)"},
        ["References: distinct ones, mean over outputs."],
    )


def _pairs_of(data: Dataset) -> Dataset:
    """Remove the meaning representation for which LOLS has two outputs."""
    twice = data.samples.filter((pl.col("system") == "LOLS") & pl.col("input").str.contains(" #2", literal=True))
    return data.where(data.samples.filter(~pl.col("source").is_in(twice["source"].to_list())), data.name)


def as_text(data: Dataset, file: Path) -> Dataset:
    """Replace scores by the alphabetical rank of their text in the authors' file (1.01E-008, 0.00000001, 1 …)."""
    table = pl.read_csv(file, infer_schema_length=0)
    texts = pl.concat([part for _, part in table.group_by("dataset", maintain_order=True)])
    made = []
    for metric in data.metrics:
        column = texts[metric]
        if not (column.cast(pl.Float64) == data.scores[metric]).all():
            raise DataError(f"{file}: column '{metric}' is not in the order of the loaded set.")
        place = {text: float(k) for k, text in enumerate(sorted(set(column)))}
        made.append(column.replace_strict(place, return_dtype=pl.Float64))
    return data.with_scores(data.scores.select(*KEY, *made))


def _rankings(sources: Sources) -> tuple[Table, Table]:
    raw, numbers = (
        relative_ranking(Choice(_pairs_of(d), by=["dataset"]), draws=DRAWS, outputs="independent")
        for d in _scored(sources)
    )
    return raw, numbers


def _scored(sources: Sources) -> tuple[Dataset, Dataset]:
    """Return the metrics of Table 12 twice: raw scores as text, and numbers (for the quantized scores)."""
    data = medians(sources).only_metrics(TABLE_12)
    return as_text(data, _medians_file(sources)), data


def _medians_file(sources: Sources) -> Path:
    """Return the path of the authors' file of medians in the folder of the published sets."""
    [path] = [file.path for file in entry(SET).files if file.path.endswith("emnlp_data_medians.csv")]
    return mirror_folder(sources.mirror) / path


def _cells(table: Table, data: str, value: str, only: str = "") -> dict[Key, float]:
    result = by_key(table, "dataset", "aspect", "metric", value=value)
    return {(d, data, a, m): v for (d, a, m), v in result.items() if only in ("", d)}


def _same(values: dict[Key, float], numbers: dict[Key, float]) -> int:
    return sum(abs(values[key] - v) < 0.005 for key, v in numbers.items())


def _random(raw: Table) -> str:
    rows = [r for r in raw if r["metric"] == "METEOR"]
    return ", ".join(f"{r['dataset']} {r['aspect']} {r['random']:.1f}" for r in rows)


def _examples(frame: pl.DataFrame) -> dict[str, dict[str, float]]:
    return {
        number: frame.filter((pl.col("system") == system) & (pl.col("source") == mr)).row(0, named=True)
        for number, (system, mr) in WORKED.items()
    }


def _between(data: Dataset) -> float:
    """Correlate human naturalness with human quality; the highest over data sets and systems."""

    best = 0.0
    for _, part in data.by("dataset", "system"):
        result = by_key(analyze("inter-metric", part.panel(ASPECTS[0], metrics=["TER"])), "metric", "other")
        best = max(best, result["human: naturalness", "human: quality"])
    return best


def _references(data: Dataset, sets: list[str]) -> float:
    some = data.samples.filter(pl.col("dataset").is_in(sets))
    if some["references"].dtype == pl.Null or some["references"].is_null().all():
        return float("nan")
    return float(some["references"].list.len().mean())  # type: ignore[arg-type]
