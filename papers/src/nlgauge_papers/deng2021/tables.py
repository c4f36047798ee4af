"""Deng et al. (2021), Tables D.1–F.6: every row that needs no unavailable weights; the others have a reason.

Rows from the texts and from released scores get a verdict. Rows that run a model of ours (embedding matching next to
the paper's BERT-base, BERTScore, MoverScore, sentence movers) are shown without one, because the weights differ.
"""

from __future__ import annotations

import re
from functools import lru_cache

import polars as pl

from nlgauge import Dataset, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec, stem
from nlgauge.plugins import NotHere
from nlgauge_papers import Difference, Key, LeftOut, NeedsDownload, NeedsWeights, Ours, Sources, meteor_1_5, study
from nlgauge_papers.common import Array
from nlgauge_papers.deng2021.baselines import ENCODER, LEFT_OUT, VECTORS, BaselineRows, lines, pooled_rouge, run_metric
from nlgauge_papers.deng2021.estimators import Sets, cases, correlations, first_references
from nlgauge_papers.deng2021.paper_models import ROWS, TRAININGS, paper_scores

# Rows of models; those of USR come from its authors' scores where they are published.
OF_MODELS = (
    *ROWS,
    *(f"Ours ({kind}){on}" for kind in "DR" for on in ("", *(f" ({name})" for name in TRAININGS))),
    "USR", "USR-MLM", "USR-DR (x=c)", "USR-DR (x=f)",
)  # fmt: skip
FROM_AUTHORS = {
    "D.1": {"Ours (D) (CNN/DM)": "consistency_disc_cnndm", "Ours (D) (XSUM)": "consistency_disc_xsum"},
    "D.3": {
        "Ours (E) (BERT-base)": "relevance_bert_bert", "Ours (E) (RoBERTa-large)": "relevance_bert_roberta",
        "Ours (D) (CNN/DM)": "relevance_disc_cnndm", "Ours (D) (XSUM)": "relevance_disc_xsum",
    },
}  # fmt: skip
AUTHORS_SCORES = (
    "from the scores that the authors released (summeval-ctc), made for ExplainaBoard on texts that were prepared "
    "differently from the paper's"
)
ROUGE = (
    "nearest of what we tried; ROUGE-1.5.5 itself, run on these texts with stems, gives what ours gives (.3364 where "
    ".3392 is printed), so its texts were likely others (a guess)"
)
CIDER = "a guess: its idf was counted over the whole test set, here over 100 articles"
SUMMARY = {
    "BLEU": ("bleu(lowercase=True)", ""),
    "ChrF": ("chrf", ""),
    "METEOR": (meteor_1_5.spec(), meteor_1_5.reason()),
    "CIDEr": ("cider-d(tokenize='none')", CIDER),  # of stems, see `stemmed`
}
# What SummEval's toolkit calls its scores, where the file is there.
TOOLKIT = {
    "ROUGE-1": "rouge.rouge_1_f_score", "ROUGE-2": "rouge.rouge_2_f_score", "ROUGE-L": "rouge.rouge_l_f_score",
    "BLEU": "bleu", "ChrF": "chrf", "METEOR": "meteor", "CIDEr": "cider", "S3-pyr": "s3_pyr", "S3-rsp": "s3_resp",
    "BERTScore-f": "bert_score_f1", "MoverScore": "mover_score", "SMS": "sentence_movers_glove_sms",
    "SummaQA-prob": "summaqa_avg_prob", "SummaQA-f": "summaqa_avg_fscore", "BLANC": "blanc", "SUPERT": "supert",
}  # fmt: skip
E_ROW = "Ours (E) (BERT-base)"
RELEASED = (
    "scores that colombo2023's authors released; their model and settings are not stated and are likely others (guess)"
)
UNSCORED = NeedsDownload(
    "the scores of SummEval's toolkit (`nlgauge data get summeval-scored`) are published and not redistributed here; "
    "most likely (a guess) the paper's: from the texts, the toolkit's BLEU, chrF and METEOR are equal in all cells"
)
FROM_TOOLKIT_ONLY = ("SummaQA-prob", "SummaQA-f", "BLANC", "SUPERT")
FROM_TOOLKIT = "from the scores of SummEval's toolkit, which are most likely (a guess) the paper's"
S3 = {"S3-pyr": "S3_pyr", "S3-rsp": "S3_resp"}
NEURAL = {"BERTScore-f": "BERTScore", "MoverScore": "MoverScore"}


def start(sources: Sources, name: str, aspect: str, default: str = "", references: int = 0) -> BaselineRows:
    """Collect rows of a set; those of the paper's models first, or what they need. `default`: see paper_scores.

    `references`: only so many of each output, 0 for all.
    """
    rows = BaselineRows(sources, sources(name))
    batch = first_references(_fields(rows.data), references)
    for metric in OF_MODELS:
        result = paper_scores(sources, metric, FORMULA_OF.get(aspect, aspect), batch, default)
        if isinstance(result, NeedsWeights):
            rows.reasons[metric,] = result
        else:
            rows.add(metric, rows.correlate(result, aspect))
    return rows


FORMULA_OF = {
    "content preservation": "preservation", "Engaging": "engagingness", "UsesKnowledge": "groundedness",
    **dict.fromkeys(("Understandable", "Natural", "MaintainsContext", "Overall"), "dialogue"),
}  # fmt: skip


def _fields(data: Dataset) -> Batch:
    """Return the texts by the paper's fields: x is the question, c the knowledge, y the output, r the references."""
    there = ("output", "source", "context", "references")
    return Batch.from_columns(*(data.samples[c].to_list() if c in data.samples.columns else None for c in there))


def authors_rows(rows: BaselineRows, table: str, aspect: str) -> None:
    """Add the rows of D and E from the scores that the authors released."""
    try:
        own = BaselineRows(rows.sources, rows.sources("summeval-ctc"))
    except NotHere:
        return
    for name, column in FROM_AUTHORS.get(table, {}).items():
        if (name, "sample", "pearson") not in rows.values:
            rows.add(name, own.correlate(column, aspect), AUTHORS_SCORES)


def embedding_matching(rows: BaselineRows, table: str, name: str) -> None:
    """Return our E for the paper's BERT-base row: one value of ctc.py, or why there is none."""
    if (E_ROW, "sample", "pearson") in rows.values:
        return
    for key, value in e_row(rows.sources, table, name).items():
        rows.values[E_ROW, *key] = value
        rows.other[E_ROW, *key] = "other weights"
    rows.reasons[E_ROW,] = ENCODER if rows.sources.slow else LEFT_OUT


def e_row(sources: Sources, table: str, name: str, aspect: str = "") -> dict[tuple[str, str], float]:
    """Return the correlations of the paper's formula by embedding matching; empty without slow studies."""
    if not sources.slow:
        return {}
    sets = Sets(sources)
    case = next(
        c
        for c in cases()
        if (c.table, c.set, c.half) == (table, name, None)
        and c.spec.startswith("ctc")
        and "chosen" not in c.spec  # the paper's formula
        and aspect in ("", c.aspect)
    )
    result = correlations(sets, case, 0, 0)
    names = ("pearson", "spearman", "kendall")
    return {("sample", c): result[c] for c in names} | {("system", c): result[f"system {c}"] for c in names}


@lru_cache(maxsize=2)
def overlap_scores(sources: Sources, references: int) -> dict[str, Array | str]:
    """Compute the word-overlap rows of SummEval, or the reason why one is missing; Tables D.1 and D.3 share them."""
    data = sources("summeval")
    batch = first_references(Batch.of(data), references)
    split = data.samples.with_columns(
        pl.col("output").map_elements(lines, return_dtype=pl.String),
        pl.col("references").list.eval(pl.element().map_elements(lines, return_dtype=pl.String)),
    )
    by_line = first_references(
        Batch.from_columns(split["output"].to_list(), None, None, split["references"].to_list()), references
    )
    results: dict[str, Array | str] = {
        "ROUGE-1": pooled_rouge("rouge-1(stem=True)", batch),
        "ROUGE-2": pooled_rouge("rouge-2(stem=True)", batch),
        "ROUGE-L": pooled_rouge("rouge-lsum(stem=True)", by_line),
    }
    for name, (spec, _) in SUMMARY.items():
        try:
            texts = stemmed(data, references) if name == "CIDEr" else batch
            results[name] = metric_from_spec(spec).score(texts).values
        except NlgaugeError as error:  # an extra is not installed
            results[name] = LeftOut(error)
    return results


def stemmed(data: Dataset, references: int) -> Batch:
    """Return the Snowball stems of the words, which SummEval's toolkit passes to CIDEr."""
    stems = lru_cache(None)(stem)

    def of(text: str) -> str:
        return " ".join(stems(word.lower()) for word in re.findall(r"\w+", text))

    outputs, given = data.samples["output"].to_list(), data.samples["references"].to_list()
    listed = [[of(r) for r in refs[: references or None]] for refs in given]
    return Batch.from_columns([of(t) for t in outputs], references=listed, input=data.samples["input"].to_list())


def released(sources: Sources, aspect: str, references: int) -> dict[str, dict[tuple[str, str], float]]:
    """Return correlations of the toolkit's published scores if the file is available, with 16
    systems as in the paper.
    """
    try:
        rows = BaselineRows(sources, sources("summeval-scored"))
    except NotHere:
        return {}
    of = "metric_scores_1" if references == 1 else "metric_scores_11"
    there = [name for name, key in TOOLKIT.items() if f"{of}.{key}" in rows.data.scores.columns]
    return {name: rows.correlate(f"{of}.{TOOLKIT[name]}", aspect, "M23_dynamicmix") for name in there}


def summarization(sources: Sources, table: str, aspect: str, references: int) -> Ours:
    """Compute the rows of one table of SummEval, from the toolkit's scores where they are there."""
    rows = start(sources, "summeval", aspect, references=references)
    batch = first_references(Batch.of(rows.data), references)
    from_toolkit = released(sources, aspect, references)
    unscored = [n for n in FROM_TOOLKIT_ONLY if (n, "sample", "pearson") not in rows.values]
    rows.reasons |= dict.fromkeys(((name,) for name in unscored), UNSCORED)
    for name, result in from_toolkit.items():
        rows.add(name, result, FROM_TOOLKIT)
    if not from_toolkit:
        overlap_rows(rows, aspect, references)
    for name, column in {**S3, **NEURAL}.items():
        if name in from_toolkit:
            continue
        if references != 1:
            rows.add(name, rows.correlate(column, aspect), RELEASED)
        elif name in S3:
            rows.reasons[name,] = UNSCORED
        else:
            model_row(rows, name, column.lower(), batch, aspect, ENCODER)
    if "SMS" not in from_toolkit:
        model_row(rows, "SMS", "sms", batch, aspect, VECTORS)
    authors_rows(rows, table, aspect)
    embedding_matching(rows, table, "summeval")
    return rows.ours(f"16 systems × 100 articles; {references or 11} references; texts as released.")


def overlap_rows(rows: BaselineRows, aspect: str, references: int) -> None:
    """Add the rows of word overlap, computed from the texts."""
    for name, scores in overlap_scores(rows.sources, references).items():
        if isinstance(scores, str):
            rows.reasons[name,] = scores
        else:
            rows.add(name, rows.correlate(scores, aspect), ROUGE if name.startswith("ROUGE") else SUMMARY[name][1])


def model_row(
    rows: BaselineRows, name: str, spec: str, batch: Batch, aspect: str, reason: str, without: str = ""
) -> None:
    """Add a metric with other weights than the paper's, without a verdict; nothing if the paper's own model was run."""
    if (name, "sample", "pearson") in rows.values:
        return
    if not rows.sources.slow:
        rows.reasons[name,] = LEFT_OUT
        return
    try:
        result = rows.correlate(run_metric(rows.sources, spec, batch), aspect, without)
    except NlgaugeError as error:
        rows.reasons[name,] = LeftOut(error)
        return
    rows.add(name, result, reason, other="other weights")


@study(
    "deng2021", "D.1", title="Consistency on SummEval, 11 references", sets=["summeval", "summeval-ctc"], tolerance=0.01
)
def table_d1(sources: Sources) -> Ours:
    """Correlate with consistency, 11 references."""
    return summarization(sources, "D.1", "consistency", 0)


@study("deng2021", "D.2", title="Relevance on SummEval, 1 reference", sets=["summeval"], tolerance=0.01)
def table_d2(sources: Sources) -> Ours:
    """Correlate with relevance, 1 reference."""
    return summarization(sources, "D.2", "relevance", 1)


@study(
    "deng2021", "D.3", title="Relevance on SummEval, 11 references", sets=["summeval", "summeval-ctc"], tolerance=0.01
)
def table_d3(sources: Sources) -> Ours:
    """Correlate with relevance, 11 references."""
    return summarization(sources, "D.3", "relevance", 0)


@study("deng2021", "D.4", title="Consistency on QAGS", sets=["qags-cnndm", "qags-xsum"])
def table_d4(sources: Sources) -> Ours:
    """Correlate with consistency on CNN/DM and XSUM."""
    values: dict[Key, float] = {}
    other: dict[Key, Difference] = {}
    reasons: dict[Key, str] = {}
    for name, others in (("qags-cnndm", "CNN/DM"), ("qags-xsum", "XSUM")):
        reasons[others,] = NeedsDownload("these metrics need references, which the QAGS release does not hold")
        rows = start(sources, name, "consistency")
        embedding_matching(rows, "D.4", name)
        without = {key: reason for key, reason in rows.reasons.items() if key != ("BERTScore-f",)}
        reasons |= {(others, *key): reason for key, reason in without.items()}
        for (metric, level, c), value in rows.values.items():
            if level == "sample":
                values[others, metric, c] = value
                if (metric, level, c) in rows.other:
                    other[others, metric, c] = rows.other[metric, level, c]
    return Ours(values, reasons, other=other)


YELP = {"BLEU": "BLEU", "METEOR": "METEOR", "EmbedAvg": "EmbedAvg", "GreedyMatch": "GreedyMatch",
        "VectorExtrema": "VectorExtrema", "WMD": "WMD"}  # fmt: skip
TIED = (
    "two systems (CAAE_rho_0_1, ARAE_lambda_1) have exactly the same mean rating; floating-point sums split that tie "
    "in the paper, here it stays a tie. With the error: correlations of plain floating-point means"
)


@study("deng2021", "E.1", title="Preservation on Yelp", sets=["yelp"], tolerance=0.01)
def table_e1(sources: Sources) -> Ours:
    """Correlate with content preservation, the source as the reference."""
    aspect = "content preservation"
    rows = start(sources, "yelp", aspect, "yelp")
    samples = rows.data.samples
    batch = Batch.from_columns(
        samples["output"].to_list(), None, None, [[source] for source in samples["source"].to_list()]
    )
    scored: dict[str, Array | str] = {name: f"content.unmasked.{column}" for name, column in YELP.items()}
    scored |= {n: pooled_rouge(f"{n.lower()}(stem=True)", batch) for n in ("ROUGE-1", "ROUGE-2", "ROUGE-L")}
    for name, scores in (scored | {"ChrF": metric_from_spec("chrf").score(batch).values}).items():
        sign = -1 if name == "WMD" else 1
        rows.add(name, {key: sign * value for key, value in rows.correlate(scores, aspect).items()})
        rows.split_ties(name, scores, aspect, sign)
        rows.reasons[name,] = ROUGE if name.startswith("ROUGE") else TIED
        rows.reasons[name, "system"] = TIED
    for name in ("BERTScore", "MoverScore"):
        model_row(rows, name, name.lower(), batch, aspect, ENCODER)
    embedding_matching(rows, "E.1", "yelp")
    return rows.ours(
        "BLEU, METEOR and the four with word vectors: columns that Mir et al. released (unmasked texts), the distance "
        "WMD reversed; ROUGE and chrF from the texts, the source as the reference."
    )
