"""Sets whose mirror is one JSONL file of outputs with ratings and scores, one loader each."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.dataset import Dataset
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import Record, ratings, records, samples, scores

OTHER_STYLE = {"negative": "positive", "positive": "negative"}


def openmeva(folder: Path, entry: Entry) -> Dataset:
    """Load OpenMEVA's stories with mean ratings and scores of metrics."""
    rows = records(folder / entry.files[0].path)
    table = samples(
        rows, system="system", input="doc_id", output="text", source="prompt", references=lambda r: [r["reference"]]
    )
    return Dataset.of(
        entry.name,
        table,
        ratings=ratings(table, rows, lambda r: [("overall", None, r["human"])]),
        scores=scores(table, [r["metrics"] for r in rows]),
        human_systems=(),
        lower=["fwppl"],
        notes=["ratings are means; the single ratings are not there"],
    )


def mans(folder: Path, entry: Entry) -> Dataset:
    """Load the original file of OpenMEVA: one object with an entry per prompt, which contains the stories of the
    systems with their individual ratings.
    """
    (stories,) = records(folder / entry.files[0].path)
    rows = [
        {"id": number, **story, "system": system, **written}
        for number, story in stories.items()
        for system, written in story["gen"].items()
        if written.get("score")
    ]
    table = samples(
        rows, system="system", input="id", output="text", source="prompt", references=lambda r: [r["gold_response"]]
    )
    given = ratings(table, rows, lambda r: [("overall", str(k), float(v)) for k, v in enumerate(r["score"], 1)])
    return Dataset.of(
        entry.name,
        table,
        ratings=given,
        human_systems=(),
        notes=["annotator IDs unknown: 1, 2, … are positions in the file"],
    )


def tac(folder: Path, entry: Entry) -> Dataset:
    """Load TAC: texts are lists of sentences, and the position of a summary within its topic identifies its system."""
    (topics,) = records(folder / entry.files[0].path)
    rows = [
        {"topic": name, "place": place, "references": topic["references"], **given}
        for name, topic in topics.items()
        for place, given in enumerate(topic["annotations"])
    ]
    table = samples(
        rows,
        system=lambda r: f"M{r['place']}",
        input="topic",
        output=lambda r: " ".join(r["text"]),
        references=lambda r: [" ".join(reference["text"]) for reference in r["references"]],
    )
    given = ratings(table, rows, lambda r: [("pyr", None, r.get("pyr_score")), ("resp", None, r.get("responsiveness"))])
    return Dataset.of(
        entry.name,
        table,
        ratings=given,
        human_systems=(),
        notes=["system names unknown: M0, M1, … are positions in the file"],
    )


def newsroom(folder: Path, entry: Entry) -> Dataset:
    """Load Newsroom's summaries; raters are places in the file."""
    rows, articles = (records(folder / f.path) for f in entry.files)
    article = {a["article_id"]: a for a in articles}
    table = samples(
        rows,
        system="system",
        input="article_id",
        output="system_summary",
        source=lambda r: article[r["article_id"]]["src"],
        references=lambda r: [article[r["article_id"]]["ref_summ"]],
    )
    guessed = sum(not r["text_match"] for r in rows)
    notes = [
        "annotator IDs unknown: 1, 2, 3 are positions in the file, not persons",
        f"{guessed} of {len(rows)} outputs got its system by elimination, the others by text and means",
    ]
    given = ratings(
        table, rows, lambda r: [(a, str(k), v) for a in entry.aspects for k, v in enumerate(r["ratings"][a], 1)]
    )
    return Dataset.of(entry.name, table, ratings=given, human_systems=(), notes=notes)


def ctrleval(folder: Path, entry: Entry) -> Dataset:
    """Load CtrlEval, which does not publish which of the four systems wrote a text."""
    rows = records(folder / entry.files[0].path)
    table = samples(rows, system=lambda r: "unknown", input="row", output="text", source="prefix", control="attribute")
    notes = [entry.notes[0][0].lower() + entry.notes[0][1:].removesuffix(".")]
    if "metrics" in rows[0]:
        notes.append("bert_recall is really BERTScore F1; bert_f1 and bert_precision are P and R in unknown order")
    metric_scores = scores(table, [r.get("metrics") for r in rows])
    return Dataset.of(
        entry.name,
        table,
        ratings=ratings(table, rows, lambda r: [(a, None, r["human"][a]) for a in entry.aspects]),
        scores=metric_scores,
        human_systems=(),
        lower=[c for c in metric_scores.columns if c == "perplexity"],
        notes=notes,
    )


def yelp(folder: Path, entry: Entry) -> Dataset:
    """Load style transfer on Yelp reviews; the control is the other style."""
    rows = records(folder / entry.files[0].path)
    table = samples(
        rows,
        system="system",
        input="i",
        output="output",
        source="source",
        control=lambda r: OTHER_STYLE[r["source_style"]],
        source_style="source_style",
        naturalness_relative=lambda r: (r["human_naturalness"] or {}).get("relative"),
    )

    def given(r: Record) -> list[tuple[str, None, float | None]]:
        natural = (r["human_naturalness"] or {}).get("absolute")
        values = r["human_content_preservation"], r["human_style_transfer_intensity"], natural
        return [(aspect, None, value) for aspect, value in zip(entry.aspects, values, strict=True)]

    metric_scores = scores(table, [r["metrics"] for r in rows])
    return Dataset.of(
        entry.name,
        table,
        ratings=ratings(table, rows, given),
        scores=metric_scores,
        human_systems=(),
        lower=[c for c in metric_scores.columns if c.endswith(".WMD")],
        notes=["ratings are means; naturalness was not rated for DAR_gamma_0_1, DAR_gamma_1 and DAR_gamma_500"],
    )


def webnlg(folder: Path, entry: Entry) -> Dataset:
    """Load WebNLG's texts of triples with the ratings of single workers."""
    rows = records(folder / entry.files[0].path)
    table = samples(
        rows,
        system="system",
        input="sample_id",
        output="text",
        source=lambda r: _triples(r["triples"]),
        category="category",
        domain="domain",
        size=lambda r: int(r["size"]),
    )
    single = [a for a in entry.aspects if not a.endswith(" (z)")]
    given = ratings(table, rows, lambda r: [(a, one["worker"], one[a]) for one in r["ratings"] for a in single])
    if len(single) < len(entry.aspects):  # the release averages standardized ratings: its means say something more
        means = ratings(table, rows, lambda r: [(f"{a} (z)", None, r["released_mean"][a]) for a in single])
        given = given.vstack(means)
    notes = [f"{table['output'].null_count()} of {len(table)} outputs have no text"]
    return Dataset.of(entry.name, table, ratings=given, persons=True, human_systems=entry.human_systems, notes=notes)


def _triples(triples: list[list[object]] | None) -> str | None:
    return None if triples is None else "\n".join(" | ".join(map(str, triple)) for triple in triples)


def mlqe(folder: Path, entry: Entry) -> Dataset:
    """Load MLQE with the language pair as the system, as in colombo2023: pairs share the numbers of inputs, not the
    texts.
    """
    rows = [
        {**r, "pair": Path(f.path).name.removesuffix(".jsonl.gz")[-5:], "number": number}
        for f in entry.files
        for number, r in enumerate(records(folder / f.path))
    ]
    table = samples(rows, system="pair", input="number", output="translation", source="original", index="index")
    notes = [
        "raters are places in the file, not known persons",
        "model_scores is the translation model's own log-probability",
    ]
    if len(entry.files) > 1:
        notes.append("the system is the language pair: an input number means another text in each pair")
    kinds = {"da": "scores", "da (z)": "z_scores"}
    given = ratings(
        table, rows, lambda r: [(a, str(k), v) for a, key in kinds.items() for k, v in enumerate(r[key], 1)]
    )
    metric_scores = scores(table, [r["metrics"] | {"model_scores": r["model_scores"]} for r in rows])
    return Dataset.of(entry.name, table, ratings=given, scores=metric_scores, human_systems=(), notes=notes)
