"""deng2021 (ctc), Tables F.1–F.4 and F.6 (dialogue) and its ablations: Tables 1, 2, 3 and F.5."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache, partial

import numpy as np

from nlgauge import Dataset, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec, usr_regression
from nlgauge.plugins import NotHere
from nlgauge_papers import (
    Difference,
    Key,
    LeftOut,
    NeedsWeights,
    NeverPublished,
    Ours,
    Sources,
    meteor_1_5,
    study,
    why_absent,
)
from nlgauge_papers.common import Array
from nlgauge_papers.deng2021.baselines import ENCODER, LEFT_OUT, BaselineRows
from nlgauge_papers.deng2021.estimators import Sets, ablation_table
from nlgauge_papers.deng2021.paper_models import TRAININGS
from nlgauge_papers.deng2021.tables import AUTHORS_SCORES, e_row, embedding_matching, model_row, start

TRUTH = "Original Ground Truth"
BASELINES = {
    **{f"BLEU-{n}": f"bleu(order={n}, preset='coco', tokenize='none')" for n in (1, 2, 3, 4)},
    "ROUGE-L": "rouge-l(tokenize='none', beta=1.2)",
    "METEOR": meteor_1_5.spec(),
    "F-1": "token-f1(unit='char')",
}
SPLIT = (
    "F-1 counts characters, blanks too. Outputs that share as large a part with their reference are tied here; in the "
    "paper 2PR / (P + R) in floating point splits some of these ties, which is what ours with the error does"
)
REASONS = {"METEOR": meteor_1_5.reason(), "F-1": SPLIT}
OVERALL = (
    "the paper prints one system-level value for both aspects of PersonaChat: that of Overall, which is what ours "
    "with the error is"
)
USR_COLUMNS = {"mlm": "usr_mlm", "drc": "usr_dr_context", "drf": "usr_dr_fact"}
USR_PARTS = ("USR-MLM", "USR-DR (x=c)", "USR-DR (x=f)")
USR_PUBLISHED = (
    "from the authors' published scores and regression, which give the other cells of USR; what this "
    "one is, is not known"
)
HUMAN = {"engagingness": "Engaging", "groundedness": "UsesKnowledge"}
SETS = {"PersonaChat": "usr-persona", "TopicalChat": "usr-topical"}
NOTE = (
    "baselines against the original response, which is then left out of the systems, as in the USR paper, whence the "
    "rows come; Word Length and E over all systems, human-written outputs included. F-1, which the paper does not "
    "define, is that of characters: all its cells come out so, and hardly one with words."
)


def split_f1(data: Dataset) -> Array:
    """Compute the F1 of characters from precision and recall, whose rounding errors break ties."""
    results = []
    for output, (reference, *_) in data.samples.select("output", "references").iter_rows():
        shared = (Counter(output.lower()) & Counter(reference.lower())).total()
        precision, recall = shared / len(output), shared / len(reference)
        results.append(2 * precision * recall / (precision + recall) if shared else 0.0)
    return np.array(results)


def usr_rows(rows: BaselineRows, aspect: str) -> None:
    """Add the three parts of USR from the published scores, and their regression."""
    try:
        data = rows.sources("usr-topical-scores")
    except NotHere as error:
        rows.reasons |= {(name,): why_absent(error) for name in (*USR_PARTS, "USR")}
        return
    own = BaselineRows(rows.sources, data)
    parts = {part: data.scores[column].fill_null(math.nan).to_list() for part, column in USR_COLUMNS.items()}
    scores = dict(zip(USR_PARTS, map(np.array, parts.values()), strict=True)) | {"USR": np.array(usr_regression(parts))}
    for name, values in scores.items():
        rows.add(name, own.correlate(values, aspect, without=TRUTH))
        rows.reasons.pop((name,), None)
    rows.reasons["USR",] = USR_PUBLISHED


@lru_cache(maxsize=16)
def baseline(sources: Sources, name: str, metric: str) -> Array | LeftOut:
    """Return the scores of a row on a set, which several tables share, or the reason why there are none."""
    try:
        return metric_from_spec(BASELINES[metric]).score(Batch.of(sources(name))).values
    except NlgaugeError as error:  # an extra is not installed
        return LeftOut(error)


def dialogue(sources: Sources, table: str, name: str, aspect: str) -> Ours:
    """Compute the rows of one table of dialogue: baselines, word length, USR, BERTScore and E."""
    rows = start(sources, name, HUMAN[aspect])
    batch = Batch.of(rows.data)
    for metric in BASELINES:
        scores = baseline(sources, name, metric)
        if isinstance(scores, LeftOut):
            rows.reasons[metric,] = scores
            continue
        rows.add(metric, rows.correlate(scores, HUMAN[aspect], without=TRUTH), REASONS.get(metric, ""))
        if metric == "F-1":
            tied = rows.correlate(split_f1(rows.data), HUMAN[aspect], without=TRUTH)
            rows.slips[metric, "sample", "spearman"] = tied["sample", "spearman"]
        if name == "usr-persona":
            overall = rows.correlate(scores, "Overall", without=TRUTH)
            rows.slips |= {(metric, *key): value for key, value in overall.items() if key[0] == "system"}
            rows.reasons[metric, "system"] = OVERALL
    rows.add("Word Length", rows.correlate(metric_from_spec("length").score(batch).values, HUMAN[aspect]))
    if name == "usr-topical":
        usr_rows(rows, HUMAN[aspect])
    model_row(rows, "BERTScore (base)", "bertscore", batch, HUMAN[aspect], ENCODER, without=TRUTH)
    embedding_matching(rows, table, name)
    return rows.ours(NOTE)


for _table, _chat, _aspect in (
    ("F.1", "Persona", "engagingness"),
    ("F.2", "Persona", "groundedness"),
    ("F.3", "Topical", "engagingness"),
    ("F.4", "Topical", "groundedness"),
):
    _set = f"usr-{_chat.lower()}"
    study(
        "deng2021",
        _table,
        title=f"{_aspect.capitalize()} on {_chat}-Chat",
        sets=[_set, *(["usr-topical-scores"] if _chat == "Topical" else [])],
        tolerance=0.01,
    )(partial(dialogue, table=_table, name=_set, aspect=_aspect))


@study(
    "deng2021",
    "F.6",
    title="Dialogue, the other aspects, Pearson",
    sets=[*SETS.values(), "usr-topical-scores"],
    tolerance=0.01,
)
def table_f6(sources: Sources) -> Ours:
    """Correlate with the other four aspects of both chats, Pearson over outputs."""
    values: dict[Key, float] = {}
    reasons: dict[Key, str] = {}
    other: dict[Key, Difference] = {}
    for others, name in SETS.items():
        for aspect in ("Understandable", "Natural", "MaintainsContext", "Overall"):
            rows = start(sources, name, aspect, TRAININGS[others])
            batch = Batch.of(rows.data)
            for metric in ("F-1", "BLEU-4", "METEOR", "ROUGE-L"):
                scores = baseline(sources, name, metric)
                if isinstance(scores, LeftOut):
                    rows.reasons[metric,] = scores
                    continue
                rows.add(metric, rows.correlate(scores, aspect, TRUTH), REASONS.get(metric, ""))
            length = metric_from_spec("length").score(batch).values
            rows.add("Response Length", rows.correlate(length, aspect))
            if name == "usr-topical":
                usr_rows(rows, aspect)
            model_row(rows, "BERTScore (base)", "bertscore", batch, aspect, ENCODER, without=TRUTH)
            result = e_row(sources, "F.6", name, aspect)
            rows.add("Ours (E)", result, ENCODER if sources.slow else LEFT_OUT, other="other weights")
            for metric, level, c in rows.values:
                if (level, c) == ("sample", "pearson"):
                    key = metric, others, aspect
                    values[key] = rows.values[metric, level, c]
                    if (metric, level, c) in rows.other:
                        other[key] = rows.other[metric, level, c]
            reasons |= {(k[0], others, aspect): text for k, text in rows.reasons.items() if len(k) == 1}
    return Ours(values, reasons, [NOTE], other)


FORMULAS = {  # the paper's names of the variants, by table
    "1": {"r→y": "mean(r>y)", "y→x": "mean(y>x)", "+": "mean(r>y) + mean(y>x)", "×": "mean(r>y) * mean(y>x)"},
    "2": {"y→x": "mean(y>x)", "x→y": "mean(x>y)", "y⇔x": "harmonic(mean(y>x), mean(x>y))"},
}
CHECKPOINTS = NeedsWeights("the authors' checkpoints of D and R (ctc_score, linked from its configs.py)")
WHOLE, KNOWN = "sum(y>[x,c])", "sum(y>c)"


def ablation(sources: Sources, names: dict[Key, tuple[str, str, str]]) -> Ours:
    """Compute E of an ablation table: key of the cell to (set, aspect, formula); D and R need the authors' models."""
    reasons: dict[Key, str] = {(): CHECKPOINTS}
    values: dict[Key, float] = {}
    if sources.slow:
        for name in {name for name, _, _ in names.values()}:
            sources(name)
        sets = Sets(sources)
        results = {
            (r["set"], r["aspect"], r["variant"]): r["ours E"]
            for r in ablation_table(sets, only={name for name, _, _ in names.values()})
        }
        values = {key: results[which] for key, which in names.items() if which in results}
    reasons |= dict.fromkeys(names, ENCODER if sources.slow else LEFT_OUT)
    return Ours(values, reasons, other=dict.fromkeys(values, "other weights"))


@study("deng2021", "1", title="Ablation: variants of relevance", sets=["summeval", "summeval-ctc"], tolerance=0.01)
def table_1(sources: Sources) -> Ours:
    """Compare relevance with one of its two factors, and with their sum."""
    names: dict[Key, tuple[str, str, str]] = {
        ("Align (E)", others): ("summeval", "relevance", ours) for others, ours in FORMULAS["1"].items()
    }
    ours = ablation(sources, names)
    released = released_factors(sources)
    reasons = {**ours.reasons, **dict.fromkeys(released, AUTHORS_SCORES)}
    return Ours({**ours.values, **released}, reasons, other=ours.other)


def released_factors(sources: Sources) -> dict[Key, float]:
    """Compute the Pearson correlations of the two factors of D, and of their sum and product, from the released scores.

    The released relevance is the product of both factors, averaged over references; the second factor is consistency.
    """
    try:
        data = sources("summeval-ctc")
    except NotHere:
        return {}
    product, precision = (data.scores[f"{a}_disc_cnndm"].to_numpy() for a in ("relevance", "consistency"))
    recall = product / precision
    rows = BaselineRows(sources, data)
    variants = {"r→y": recall, "y→x": precision, "+": recall + precision, "×": product}
    return {("Align (D)", n): rows.correlate(v, "relevance")["sample", "pearson"] for n, v in variants.items()}


@study("deng2021", "2", title="Ablation: directions of preservation", sets=["yelp"])
def table_2(sources: Sources) -> Ours:
    """Compare preservation with each of its two directions."""
    return ablation(
        sources, {("Align (E)", others): ("yelp", "preservation", ours) for others, ours in FORMULAS["2"].items()}
    )


@study("deng2021", "3", title="Ablation: mean or sum for engagingness", sets=list(SETS.values()))
def table_3(sources: Sources) -> Ours:
    """Compare engagingness by mean and by sum."""
    return ablation(
        sources,
        {
            ("Align (E)", others, chat): (name, "engagingness", f"{others.lower()}(y>[x,c])")
            for chat, name in SETS.items()
            for others in ("Mean", "Sum")
        },
    )


@study("deng2021", "F.5", title="Ablation: swapped formulas for dialogue", sets=list(SETS.values()))
def table_f5(sources: Sources) -> Ours:
    """Swap the formulas of engagingness and groundedness."""
    names: dict[Key, tuple[str, str, str]] = {}
    for chat, name in SETS.items():
        names["Engagingness (E)", chat, "Swapped"] = name, "engagingness", KNOWN
        names["Engagingness (E)", chat, "Ours"] = name, "engagingness", WHOLE
        names["Groundedness (E)", chat, "Swapped"] = name, "groundedness", WHOLE
        names["Groundedness (E)", chat, "Ours"] = name, "groundedness", KNOWN
    return ablation(sources, names)


@study("deng2021", "A.1", title="Ablation: summaries to train D on, consistency on XSUM", sets=[])
def section_a1(sources: Sources) -> Ours:
    """Report that D trained on reference summaries was not released."""
    released = NeedsWeights(
        "the authors' checkpoint D-xsum (ctc_score); section A.1 does not say which part of the data"
    )
    unreleased = NeverPublished("D trained on reference summaries was not released")
    return Ours({}, {("reference summaries",): unreleased, ("auto-generated summaries",): released})


@study("deng2021", "C.1", title="Alignment of every word of two summaries, D trained on XSUM", sets=[])
def table_c1(sources: Sources) -> Ours:
    """Align the words of the two summaries, where the authors' weights are."""
    article = (
        "the authors' checkpoint D-xsum (ctc_score), and the article of the table, of which the paper has the text"
    )
    return Ours({}, {(): NeedsWeights(article)})
