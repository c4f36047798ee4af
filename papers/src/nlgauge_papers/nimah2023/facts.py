"""Ni'mah et al. (2023): counts and worked examples (Table 2, Tables 7 and 8, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from nlgauge import Dataset, score
from nlgauge.datasets import entry
from nlgauge.plugins import NotHere
from nlgauge.stats import levenshtein, preference_similarity
from nlgauge_papers import Key, Ours, Sources, study, why_absent
from nlgauge_papers.nimah2023.systems import OWN

# The names of Table 2 and the sets here.
SETS = {
    "UBER-Topic": "uber-topic",
    "CTRL-Topic": "ctrl-topic",
    "CtrlEval-Topic": "checklist-ctrleval-topic",
    "USR-PC": "checklist-usr-pc",
    "USR-TC": "checklist-usr-tc",
    "UniEval-TC": "checklist-unieval-tc",
    "summEval": "summeval-17",
    "Newsroom": "newsroom",
    "Unieval-summ": "summeval",
}


@study(
    "nimah2023",
    "2",
    title="rows of the data sets",
    sets=[
        "uber-topic",
        "ctrl-topic",
        "checklist-ctrleval-topic",
        "checklist-usr-pc",
        "checklist-usr-tc",
        "checklist-unieval-tc",
        "newsroom",
        "summeval",
    ],
)
def table_2(sources: Sources) -> Ours:
    """Count one row per annotator where single ratings are known, otherwise one per output."""
    values: dict[Key, float] = {}
    reasons: dict[Key, str] = {}
    for name, here in SETS.items():
        for valid in filter(None, (here, OWN[name].set if name in OWN else "")):
            try:
                values[(name,)] = rater_rows(sources(valid), means=name == "Unieval-summ")
                break
            except NotHere as error:
                reasons[(name,)] = why_absent(error)
    return Ours(
        values,
        reasons,
        [
            "#Samples counts rows, one per annotator; UniEval-TC, UniEval-summ and CtrlEval-Topic have means, one row "
            "per output.",
            "Table 2 lists Fluency for CtrlEval-Topic; the released table and its origin have only "
            f"{', '.join(entry(SETS['CtrlEval-Topic']).aspects)}.",
        ],
    )


def rater_rows(data: Dataset, means: bool = False) -> int:
    """Count the rows of the set with one row per annotator (or one per output, with `means`)."""
    columns = ["system", "input"] if means else ["system", "input", "rater"]
    # UBER-Topic lacks two fluency ratings whose texts were compared for relevance: a row is a rating of fluency there.
    rated = data.ratings.filter(~pl.col("aspect").str.ends_with("(turker)"))
    rated = rated.filter(pl.col("aspect") == "fluency") if data.name == "uber-topic" else rated
    return rated.select(columns).unique().height


ONE_TOPIC = (
    "the authors counted 4,679 of the 7,314 comparisons: the numbers of comparisons repeat from topic to topic, and of "
    "the comparisons of one number by one person only the first topic's is left (ours with the error)"
)


@study("nimah2023", "figure-7", title="outcomes of the comparisons of systems, UBER-Topic", sets=["uber-topic"])
def figure_7(sources: Sources) -> Ours:
    """Count the outcomes of all comparisons, and the comparisons of each pair of systems."""
    data = sources("uber-topic")
    votes = data.comparisons.join(data.samples.select("input", "key").unique(), on="input", maintain_order="left")
    for side in ("first", "second"):
        rated = data.ratings.pivot(on="aspect", index=["system", "input", "rater"], values="value")
        votes = votes.join(
            rated.rename({a: f"{a} {side}" for a in data.aspects}),
            left_on=[side, "input", "rater"],
            right_on=["system", "input", "rater"],
            how="left",
            maintain_order="left",
        )
    whole = votes.drop_nulls(["fluency first", "fluency second"])
    return Ours(
        _outcomes(votes, whole),
        {(): ONE_TOPIC},
        [
            "the numbers are in the figures of the authors' notebook (stat_win_relevance, stat_win_fluency, "
            "battle_counts_fluency), not in the paper, which has a picture.",
            "fluency: a tie is called good above 3, neutral at 3, poor below. Win fractions of two systems: `nlgauge "
            "meta uber-topic --analysis wins --aspect relevance`.",
        ],
        slips=_outcomes(*(v.unique(["key", "rater"], keep="first", maintain_order=True) for v in (votes, whole))),
    )


def _outcomes(votes: pl.DataFrame, whole: pl.DataFrame) -> dict[Key, float]:
    """Count by aspect and outcome; `whole` holds the comparisons with both ratings of fluency."""
    values: dict[Key, float] = {}
    names = {"relevance": ("neither", "", "both"), "fluency": ("both poor", "both neutral", "both good")}
    for aspect, ties in names.items():
        one, two = pl.col(f"{aspect} first"), pl.col(f"{aspect} second")
        middle = 3.0 if aspect == "fluency" else 0.5
        level = pl.when(one < middle).then(pl.lit(ties[0])).when(one > middle).then(pl.lit(ties[2]))
        decided = pl.when(one > two).then(pl.lit("A wins")).when(two > one).then(pl.lit("B wins"))
        outcome = decided.otherwise(level.otherwise(pl.lit(ties[1])))
        for name, n in (
            (votes if aspect == "relevance" else whole).select(outcome.value_counts().struct.unnest()).rows()
        ):
            values[aspect, name] = n
    pair = pl.concat_str(pl.min_horizontal("first", "second"), pl.max_horizontal("first", "second"), separator=" – ")
    return values | {("comparisons", name): n for name, n in votes.select(pair.value_counts().struct.unnest()).rows()}


@study("nimah2023", "section-3.3", title="worked examples of Eq. 3 and 4", sets=[])
def worked_examples(sources: Sources) -> Ours:
    """Compute Levenshtein distance and preference similarity of the sequences in section 3.3."""
    values: dict[Key, float] = {}
    for name in ("a≺b | b≺a", "cdabe | abcde", "cbed | abcde"):
        one, two = name.split(" | ")
        values |= {(name, "Levenshtein"): levenshtein(one, two), (name, "similarity"): preference_similarity(one, two)}
    wrong = (
        "the paper's figure contradicts its own formula: cbed, abed, abcd, abcde are three edits, and "
        "(9 − 2 · 3) / 9 = 0.33; its 4 and 0.11 = (9 − 2 · 4) / 9 fit each other. Where the 4 comes from is not known."
    )
    return Ours(values, {("cbed | abcde",): wrong})


# Which of the three experts a row of Tables 7 and 8 shows is not said: found by its four ratings.
SHOWN: dict[tuple[str, str], tuple[str, str]] = {
    ("Merson", "M12"): ("paul merson", "expert 1"),
    ("Merson", "M23"): ("paul merson", "expert 1"),
    ("Merson", "M11"): ("paul merson", "expert 2"),
    ("Varvara", "M20"): ("Varvara traveled", "expert 3"),
    ("Varvara", "M8"): ("the whale , named varvara", "expert 1"),
    ("Henderson", "M11"): ("jordan henderson is set to sign", "expert 3"),
    ("Henderson", "M8"): ("jordan henderson has provided", "expert 2"),
}
CHOSEN_RATER = "the paper does not say which expert a row shows: the one whose four ratings match was taken."
HUMAN = ("Coherence", "Consistency", "Fluency", "Relevance")
CTC_ASPECTS = {"Consistency": "consisten", "Relevance": "relev"}
# The columns of the authors' table (checklist-summeval) behind the scores of Tables 7 and 8: their mean.
TABLE_COLUMNS: dict[str, Sequence[str]] = {
    "Perplexity": ["perplexity"],
    "BLEU": ["bleu1", "bleu11"],
    "ROUGE": ["rouge_l_f_score1", "rouge_l_f_score11"],
    "BERTScore": ["bert_score_f1", "bert_score_f11"],
    **{f"CTC {way}-{a}": [f"ctc_{way.lower()}_{c}"] for way in "EDR" for a, c in CTC_ASPECTS.items()},
    "CtrlEval Coherence": ["cohere_met"],
    **{f"UniEval {a}": [f"{a.lower()}_unieval"] for a in HUMAN},
}
NO_TEXTS = "the authors' table names no column of texts, by which the output could be found"


@study("nimah2023", "7", title="SummEval outputs on which aspects agree", sets=["summeval"], tolerance=0.02)
def table_7(sources: Sources) -> Ours:
    """Look up the ratings of the outputs on which aspects agree, and score their texts."""
    return _outputs(sources, ["Merson"])


@study("nimah2023", "8", title="SummEval outputs on which aspects disagree", sets=["summeval"], tolerance=0.02)
def table_8(sources: Sources) -> Ours:
    """Look up the ratings of the outputs on which aspects disagree, and score their texts."""
    return _outputs(sources, ["Varvara", "Henderson"])


def _outputs(sources: Sources, articles: Sequence[str]) -> Ours:
    """Return the ratings of one expert, and the surface metrics as means of the scores with 1 and
    with 11 references.
    """
    data = sources("summeval")
    values: dict[Key, float] = {}
    table, absent = _authors_table(sources)
    for (article, system), (start, rater) in SHOWN.items():
        if article not in articles:
            continue
        rows = data.samples.filter((pl.col("system") == system) & pl.col("output").str.starts_with(start)).head(1)
        one = data.where(rows)
        given = {r["aspect"]: r["value"] for r in one.ratings.to_dicts() if r["rater"] == rater}
        ratings = [given[a.lower()] for a in HUMAN]
        for aspect, rating in zip(HUMAN, ratings, strict=True):
            values[article, system, f"Human {aspect}"] = rating
        values[article, system, "Human Average"] = sum(ratings) / len(ratings)
        released = _released(table, system, start, ratings)
        for name, value in (released or _surface(one)).items():
            values[article, system, name] = value
    return Ours(
        values,
        {(): absent} | dict.fromkeys((k for k in values if k[2].startswith("Human")), CHOSEN_RATER),
        [
            "BLEU: sacrebleu's, lower-cased; ROUGE: ROUGE-Lsum F with stems, mean over references; both the mean of "
            "the score against the first and against all 11 references, as the caption of Table 7 says.",
            "which ROUGE is not said; among ROUGE-1, -2, -L and -Lsum (F and recall; mean, best or jackknife over "
            "references) this one is nearest. The paper's is ROUGE-1.5.5 with its own sentence splitter: up to .013 "
            "off.",
            "which expert a row shows is not said: of the three, the one whose four ratings match was taken, so that "
            "the ratings could hardly differ; that one of the three matches in all seven rows is all that they show.",
        ],
        chosen={key for key in values if key[2].startswith("Human")},
    )


def _authors_table(sources: Sources) -> tuple[Dataset | None, str]:
    """Return the authors' table of SummEval, or the reason why it is not available."""
    try:
        return sources("checklist-summeval"), NO_TEXTS
    except NotHere as error:
        return None, why_absent(error)


def _released(table: Dataset | None, system: str, start: str, ratings: Sequence[float]) -> dict[str, float]:
    """Return the scores in the authors' table for the output with this beginning and one annotator's ratings."""
    if table is None or "output" not in table.samples.columns:
        return {}
    rated = table.ratings.pivot(on="aspect", index=["system", "input"], values="value")
    rows = table.samples.join(rated, on=["system", "input"]).join(table.scores, on=["system", "input"])
    rows = rows.filter((pl.col("system") == system) & pl.col("output").str.starts_with(start))
    for aspect, rating in zip(HUMAN, ratings, strict=True):
        rows = rows.filter(pl.col(aspect.lower()) == rating)
    if rows.is_empty():
        return {}
    first = rows.row(0, named=True)
    return {
        name: sum(first[c] for c in columns) / len(columns)
        for name, columns in TABLE_COLUMNS.items()
        if all(first.get(c) is not None for c in columns)
    }


def _surface(one: Dataset) -> dict[str, float]:
    """Compute BLEU and ROUGE of one output as the mean over both numbers of references."""

    specs = {"BLEU": "bleu(lowercase=True)", "ROUGE": "rouge-lsum(stem=True, references='mean')"}
    # A sentence is a line for ROUGE-Lsum.
    lines = one.samples.with_columns(
        _sentences(pl.col("output")), pl.col("references").list.eval(_sentences(pl.element()))
    )
    results: dict[str, list[float]] = {name: [] for name in specs}
    for many in (1, 11):
        part = replace(one, samples=lines.with_columns(pl.col("references").list.head(many)))
        scored = score(part, list(specs.values()), workers=1).scores
        for name, column in zip(specs, scored.columns[-len(specs) :], strict=True):
            results[name].append(scored[column].item())
    return {name: sum(pair) / len(pair) for name, pair in results.items()}


def _sentences(text: pl.Expr) -> pl.Expr:
    return text.str.replace_all(r"([.!?])\s+", "$1\n")
