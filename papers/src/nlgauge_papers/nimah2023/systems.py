"""Ni'mah et al. (2023), system level: KS distance (Tables 17-19) and preference similarity (Tables 20-22).

Conventions of the authors' released notebooks: one row per annotator with the score repeated, human outputs among the
systems, mean over the listed pairs, then over the columns of a family; Overall is one of the human columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from nlgauge import Dataset, analyze, score
from nlgauge.plugins import NotHere
from nlgauge_papers import Key, NeedsDownload, Ours, Sources, published_rows, study, why_absent

Pairs = dict[str, list[tuple[str, str]]]
Columns = Mapping[str, Sequence[str]]

PERPLEXITY, BLEU, ROUGE, BERTSCORE = "Perplexity", "BLEU", "ROUGE", "BERTScore"
CTC, CTRLEVAL, UNIEVAL = "Single-CTC", "Single-CtrlEval", "Multi-UniEval"
QUALITIES = ("understandability", "naturalness", "coherence", "engagingness", "groundedness", "overall")
DIALOGUE: Columns = {
    PERPLEXITY: ["perplexity"],
    BLEU: ["bleu"],
    ROUGE: ["rouge1", "rouge2", "rougeL"],
    # bert_f1_* holds precision: the authors' script stores precision, recall, F1 under f1, precision, recall
    BERTSCORE: ["bert_f1_src", "bert_f1_ttl"],
    CTC: [f"ctc_{way}_{aspect}" for way in "edr" for aspect in ("engage", "ground")],
    CTRLEVAL: ["cohere_met", "consist_met", "relev_met"],
    UNIEVAL: [f"{quality}_unieval" for quality in QUALITIES],
}
# BLEU of the package `evaluate`, and its ROUGE-1: the authors' table holds ROUGE-1 in all three ROUGE columns.
SURFACE: Columns = {BLEU: ["bleu(smooth='none', effective_order=False)"], ROUGE: ["rouge-1"]}


@dataclass(frozen=True)
class Benchmark:
    """A data set of the paper: the set here, the table of its pairs, and whether Overall is the mean of the aspects."""

    name: str
    set: str
    pairs_in: str
    columns: Columns
    aspects: tuple[str, ...] | None = None
    overall: bool = False
    means: bool = False  # one row per output, with the mean rating

    def rated(self, sources: Sources) -> Dataset:
        """Return the set, perhaps without scores."""
        return sources(self.set)

    def data(self, sources: Sources) -> Dataset:
        """Return the data with the scores of their metrics."""
        if self.set == "summeval":
            return with_surface(sources(self.set, tokenized=True))
        return self.rated(sources)

    def pairs(self) -> Pairs:
        """Return its Easy and Hard pairs."""
        return listed_pairs(self.pairs_in, self.name)

    def families(self, data: Dataset, change: Columns | None = None) -> dict[str, list[str]]:
        """Return the columns of each family that the data have."""
        columns = {**self.columns, **(change or {})}
        return {family: [c for c in names if c in data.metrics] for family, names in columns.items()}


# The pairs of Table 14 that the text has lost are taken from Table 15: same systems, same outputs.
BENCHMARKS = [
    Benchmark("UniEval-TC", "checklist-unieval-tc", "15", DIALOGUE),
    Benchmark("USR-TC", "checklist-usr-tc", "15", DIALOGUE),
    Benchmark("USR-PC", "checklist-usr-pc", "16", DIALOGUE),
    Benchmark(
        "UniEval-summ", "summeval", "11", SURFACE, ("coherence", "consistency", "fluency", "relevance"), True, True
    ),
    Benchmark("Newsroom", "newsroom", "13", {}, overall=True),
    Benchmark("summEval", "summeval-17", "12", {}, ("coherence", "consistency", "fluency", "relevance"), True),
]
# Controlled generation: fluency and relevance, no Overall; the pairs of Table 10.
TOPIC: Columns = {
    PERPLEXITY: ["perplexity"],
    BERTSCORE: ["bert_f1"],
    CTC: [f"ctc_{way}_{aspect}" for way in "edr" for aspect in ("consisten", "relev")],
    CTRLEVAL: ["cohere_met", "consist_met", "relev_met"],
    UNIEVAL: [f"{quality}_unieval" for quality in ("coherence", "consistency", "fluency", "relevance", "overall")],
}
CONTROLLED = [Benchmark("UBER-Topic", "uber-topic", "10", {}), Benchmark("CTRL-Topic", "ctrl-topic", "10", TOPIC)]
CTC_AND_MORE = {CTC: TOPIC[CTC], CTRLEVAL: ["cohere_met"], UNIEVAL: TOPIC[UNIEVAL]}
SUMMARY: Columns = {**DIALOGUE, **CTC_AND_MORE}
LARGE: Columns = {
    PERPLEXITY: ["perplexity"],
    BLEU: ["bleu1", "bleu11"],
    ROUGE: ["rouge_l_f_score1", "rouge_l_f_score11"],
    BERTSCORE: ["bert_score_f1", "bert_score_f11"],
    **CTC_AND_MORE,
}
# The authors' own tables of these sets, with the scores of all metrics, where a user has them; Overall is a column.
OWN = {
    b.name: b
    for b in (
        Benchmark("UniEval-summ", "checklist-unieval-summ", "11", SUMMARY),
        Benchmark("summEval", "checklist-summeval", "12", LARGE),
        Benchmark("Newsroom", "checklist-newsroom", "13", SUMMARY),
        Benchmark("UBER-Topic", "checklist-uber-topic", "10", TOPIC),
    )
}
SUMMARIES, DIALOGUES = ["summeval", "newsroom"], [b.set for b in BENCHMARKS[:3]]
TOPICS = [b.set for b in CONTROLLED]
ABSENT: dict[str, str] = {
    name: NeedsDownload(
        f"the authors' table of {name} with the scores of all metrics is in their repository, "
        f"github.com/inimah/metric-preference-checklist, folder data: `nlgauge data get {OWN[name].set}`"
    )
    for name in ("UniEval-summ", "Newsroom", "UBER-Topic", "summEval")
}
NO_TITLES = NeedsDownload(
    "BLEU and ROUGE were computed against the article and its title (appendix A.3); their scores are in the authors' "
    "table: `nlgauge data get checklist-newsroom`"
)


def listed_pairs(table: str, data: str = "") -> Pairs:
    """Return the easy and hard pairs of Tables 10–16; Table 10 has those of two data sets."""
    results: Pairs = {}
    for row in published_rows("nimah2023", table):
        if table != "10" or row["data"] == data:
            results.setdefault(row["difficulty"], []).append((row["a"], row["b"]))
    return results


def those_here(sources: Sources, benchmarks: Sequence[Benchmark]) -> tuple[list[Benchmark], dict[Key, str]]:
    """Return the data sets that are present, the authors' own table first, and why the others are not."""
    here, reasons = [], dict[Key, str]()
    for b in benchmarks:
        for valid in filter(None, (OWN.get(b.name), b)):
            try:
                valid.rated(sources)
                here.append(valid)
                break
            except NotHere as error:
                reason = why_absent(error)
        else:
            reasons[b.name,] = reason
    return here, reasons


def with_surface(data: Dataset) -> Dataset:
    """Add BLEU and ROUGE-1 of each summary against the article and the first reference, as for UniEval-summ in the
    paper.
    """

    two = pl.concat_list(pl.col("source"), pl.col("references").list.head(1))
    scored = score(
        replace(data, samples=data.samples.with_columns(references=two)), [c for some in SURFACE.values() for c in some]
    )
    return data.with_scores(scored.scores)


def ks_table(sources: Sources, benchmarks: Sequence[Benchmark], change: Columns | None = None) -> dict[Key, float]:
    """Compute KS by data set, difficulty and family; Human is the mean over the aspects."""
    values: dict[Key, float] = {}
    for b in benchmarks:
        data = b.data(sources)
        families = b.families(data, change)
        table = analyze(
            "system-discrimination",
            data,
            b.aspects,
            [c for some in families.values() for c in some],
            keep_human=True,
            pairs=b.pairs(),
            per="family",
            unit="output" if b.means else "rater",
            overall=b.overall,
            families=families,
            draws=1,
        )
        values |= {(b.name, row["pairs"], row["family"]): row["value"] for row in table.rows}
    return values


def preference_table(sources: Sources, benchmarks: Sequence[Benchmark], turned: bool = False) -> dict[Key, float]:
    """Compute preference similarity by data set, difficulty and family; `turned`: lower perplexity is better."""
    values: dict[Key, float] = {}
    for b in (b for b in benchmarks if b.columns):
        data = b.data(sources)
        families = b.families(data)
        table = analyze(
            "system-preference",
            data if turned else replace(data, lower=frozenset()),
            b.aspects,
            [c for some in families.values() for c in some],
            keep_human=True,
            pairs=b.pairs(),
            per="family",
            unit="output" if b.means else "rater",
            overall=b.overall,
            families=families,
        )
        values |= {(b.name, row["pairs"], row["family"]): row["value"] for row in table.rows}
    return values


@study("nimah2023", "17", title="KS on systems, summarization", sets=SUMMARIES)
def table_17(sources: Sources) -> Ours:
    """Compute the KS distance of human ratings, and of metrics whose scores are available."""
    return Ours(
        ks_table(sources, those_here(sources, BENCHMARKS[3:])[0]),
        _absent("summEval", "UniEval-summ", "Newsroom") | _titles(),
        [
            "Human: with Overall, the mean of the four aspects, as one of five columns; rater rows in Newsroom, means "
            "of the experts in UniEval-summ.",
            "UniEval-summ BLEU and ROUGE are computed from the texts, re-tokenized as UniEval has them, against the "
            "article and the first reference.",
        ],
    )


@study("nimah2023", "18", title="KS on systems, dialogue", sets=DIALOGUES)
def table_18(sources: Sources) -> Ours:
    """Compute Table 18, in which BERTScore is its column against the source alone."""
    return Ours(
        ks_table(sources, BENCHMARKS[:3], {BERTSCORE: ["bert_f1_src"]}),
        notes=[
            "BERTScore is the column bert_f1_src alone (Table 21: with bert_f1_ttl); it holds precision, not F1.",
            "rouge1, rouge2 and rougeL are the same numbers in the released tables.",
        ],
    )


@study("nimah2023", "19", title="KS on systems, controlled generation", sets=TOPICS)
def table_19(sources: Sources) -> Ours:
    """Compute KS on the sets of controlled generation that are here."""
    here, reasons = those_here(sources, CONTROLLED)
    cut = "cut, not rounded: .0976 is printed as 0.097."
    values = ks_table(sources, here)
    cell = "CTRL-Topic", "Hard", BERTSCORE
    return Ours(
        values,
        _absent("UBER-Topic") | reasons | {cell: cut},
        [
            "BERTScore is the column bert_f1, which holds precision; relevance of a text: 1 if chosen as more "
            "relevant, or both."
        ],
        slips=cut_short(values, [cell]),
    )


@study("nimah2023", "20", title="preference similarity, summarization", sets=SUMMARIES)
def table_20(sources: Sources) -> Ours:
    """Compute preference similarity on the sets of summarization that are here."""
    here, _ = those_here(sources, BENCHMARKS[3:])
    return Ours(preference_table(sources, here), _absent("summEval", "UniEval-summ", "Newsroom") | _titles())


# Table 21 prints the labels of Table 20.
LABELS = {"UniEval-TC": "UniEval-summ", "USR-TC": "summEval", "USR-PC": "Newsroom"}
EXCHANGED = (PERPLEXITY, BLEU, BERTSCORE)
SWAPPED = (
    f"in the columns {', '.join(EXCHANGED)} the paper has the rows USR-TC and USR-PC exchanged: the printed value is "
    "what we find for the other of the two (ours with the error), in all 12 cells."
)


@study("nimah2023", "21", title="preference similarity, dialogue", sets=DIALOGUES, tolerance=0.001)
def table_21(sources: Sources) -> Ours:
    """Compute preference similarity on dialogue; the paper's errors are repeated next to it."""
    result = preference_table(sources, BENCHMARKS[:3])
    cut = [("UniEval-TC", "Hard", CTRLEVAL), ("USR-TC", "Easy", CTRLEVAL)]
    slips = {(d, LABELS[d], *rest): v for (d, *rest), v in cut_short(result, cut).items()}
    reasons: dict[Key, str] = dict.fromkeys(slips, CUT)
    for data, other in (("USR-TC", "USR-PC"), ("USR-PC", "USR-TC")):
        for difficulty in ("Easy", "Hard"):
            reasons |= {(data, LABELS[data], difficulty, metric): SWAPPED for metric in EXCHANGED}
            slips |= {(data, LABELS[data], difficulty, m): result[other, difficulty, m] for m in EXCHANGED}
        hard: Key = (data, LABELS[data], "Hard", CTRLEVAL)
        slips[hard], reasons[hard] = _easy_in_hard(sources, data)
    turned = preference_table(sources, BENCHMARKS[:3], turned=True)
    instead = ", ".join(
        f"{b.name} {turned[b.name, 'Easy', PERPLEXITY]:.3f} easy and {turned[b.name, 'Hard', PERPLEXITY]:.3f} hard"
        for b in BENCHMARKS[:3]
    )
    return Ours(
        {(data, LABELS[data], *rest): value for (data, *rest), value in result.items()},
        reasons,
        [
            "Table 21 has the row labels of Table 20 (UniEval-summ, summEval, Newsroom); its values are those of "
            "UniEval-TC, USR-TC and USR-PC, in this order.",
            "mean over pairs, columns of a family and six aspects; BERTScore: bert_f1_src and bert_f1_ttl (Table 18: "
            "only the first).",
            "Eq. 2 as printed: a higher mean is preferred, also for perplexity. With lower perplexity preferred: "
            f"{instead}.",
        ],
        slips=slips,
    )


NOTEBOOK = "the authors' notebook 'SystemEval Unieval.ipynb'"


def _easy_in_hard(sources: Sources, name: str) -> tuple[float, str]:
    """Average CtrlEval on the hard pairs as cell 95 of the authors' notebook does, and describe the error there."""
    b = next(b for b in BENCHMARKS if b.name == name)
    columns = list(DIALOGUE[CTRLEVAL])
    table = analyze(
        "system-preference", b.data(sources), metrics=columns, keep_human=True, pairs=b.pairs(), per="metric"
    )
    by = {(row["metric"], row["pairs"]): row["value"] for row in table.rows}
    mixed = [by[columns[0], "Hard"], by[columns[1], "Hard"], by[columns[2], "Easy"]]
    return sum(mixed) / 3, (
        f"cell 95 of {NOTEBOOK} averages df_easy['relev_met'] into the row of the hard pairs: "
        f"({' + '.join(f'{v:.3f}' for v in mixed)}) / 3 = {sum(mixed) / 3:.3f}"
    )


WITHOUT_COHERENCE = (
    f"cell 96 of {NOTEBOOK} leaves out the column coherence_unieval: .4167; Table 19 has its value only with it"
)
HARD_TWICE = (
    f"cell 96 of {NOTEBOOK} has 1.0 for the easy and .333 for the hard pairs (lower perplexity is preferred); the "
    "paper prints .333 in both rows"
)


@study("nimah2023", "22", title="preference similarity, controlled generation", sets=TOPICS, tolerance=0.001)
def table_22(sources: Sources) -> Ours:
    """Compute preference similarity on the sets of controlled generation that are here; lower perplexity is better."""
    here, reasons = those_here(sources, CONTROLLED)
    values = preference_table(sources, here)
    values |= {k: v for k, v in preference_table(sources, here, turned=True).items() if k[2] == PERPLEXITY}
    cut = [("CTRL-Topic", group, family) for group in ("Easy", "Hard") for family in (CTC, CTRLEVAL)]
    slips = cut_short(values, cut)
    reasons |= dict.fromkeys(slips, CUT)
    if any(b.name == "CTRL-Topic" for b in here):
        four = {UNIEVAL: [c for c in TOPIC[UNIEVAL] if not c.startswith("coherence")]}
        [b] = [replace(b, columns={**b.columns, **four}) for b in here if b.name == "CTRL-Topic"]
        cell: Key = ("CTRL-Topic", "Easy", UNIEVAL)
        slips[cell], reasons[cell] = preference_table(sources, [b])[cell], WITHOUT_COHERENCE
        cell = ("CTRL-Topic", "Easy", PERPLEXITY)
        slips[cell], reasons[cell] = values["CTRL-Topic", "Hard", PERPLEXITY], HARD_TWICE
    return Ours(
        values,
        _absent("UBER-Topic") | reasons,
        ["A higher mean is preferred; for perplexity a lower one, as in the authors' notebook (cell 96)."],
        slips=slips,
    )


CUT = "cut after three decimals, not rounded."


def cut_short(values: Mapping[Key, float], cells: Sequence[Key]) -> dict[Key, float]:
    """Reproduce the error of truncating a value after its third decimal instead of rounding it, in these cells."""
    return {key: math.floor(1000 * values[key] + 1e-9) / 1000 for key in cells if key in values}


def _absent(*names: str) -> dict[Key, str]:
    return {(name,): ABSENT[name] for name in names}


def _titles() -> dict[Key, str]:
    return {("Newsroom", d, m): NO_TITLES for d in ("Easy", "Hard") for m in (BLEU, ROUGE)}
