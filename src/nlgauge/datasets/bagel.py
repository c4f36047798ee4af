"""BAGEL, SFHOTEL and SFREST: the outputs of Novikova et al. (2017), with median human ratings."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.datasets.bagel_texts import Texts, Which, prepared
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import Record, csv_table, numbers, records, unpivot
from nlgauge.errors import DataError

FOLDER = "bagel_sfhotel_sfrest"
ASPECTS = ("informativeness", "naturalness", "quality")
# The file's names, and the paper's.
SYSTEMS = {"Dusek": "TGEN", "WEN": "RNNLG", "LOLS": "LOLS"}
SET_NAMES = {"BAGEL": "BAGEL", "SFHOT": "SFHOTEL", "SFRES": "SFREST"}


def load(folder: Path, entry: Entry, texts: Texts = "released", references: Which = "all") -> Dataset:
    """Load 2,460 outputs; `dataset`, `mr_type` and `domain` are columns to group by.

    `texts`: 'released' (those that came with the references), 'authors' (the outputs in the authors' own file), or as
    the authors' programs had them, 'delexicalised' or also 'tokenized' (bagel_texts.py). `references`: only the 'first'
    or the 'last' of each output.
    """
    for option, value, allowed in (("texts", texts, get_args(Texts)), ("references", references, get_args(Which))):
        if value not in allowed:
            raise DataError(f"{entry.name}: {option}='{value}'; expected {' or '.join(allowed)}.")
    table = csv_table(folder / FOLDER / "emnlp_data_medians.csv")
    metrics = table.columns[table.columns.index("TER") : table.columns.index("parser.sc.max") + 1]
    notes = ["ratings are medians; individual ratings were not published with the set"]
    parts = [
        _one_set(folder / FOLDER, part, str(name[0]), notes)
        for name, part in table.group_by("dataset", maintain_order=True)
    ]
    frame = pl.concat(parts, how="diagonal")
    if (texts, references) != ("released", "all"):
        frame = prepared(frame, texts, references)
        notes.append(f"texts: {texts}; references: {references}")
    extra = [c for c in frame.columns if c.startswith("unieval_")]
    return Dataset.of(
        entry.name,
        frame.select(*KEY, "output", "source", "references", "dataset", "mr_type", "domain"),
        ratings=unpivot(frame, {a: a for a in ASPECTS}),
        scores=numbers(frame, [*metrics, *extra]),
        lower=["TER", "lev.dist", "n.misspel"],
        notes=dict.fromkeys(notes),
    )


def individual(folder: Path, entry: Entry) -> Dataset:
    """Load individual ratings: the authors' R script names the columns judge, dataset, system, sys_ref and aspects.

    The outputs of all judges are in the same order.
    """
    frame = csv_table(folder / entry.files[0].path)
    place = pl.int_range(pl.len()).over("judge", "dataset", "system")
    frame = frame.with_columns(
        pl.col("dataset").replace(SET_NAMES),
        pl.col("system").replace(SYSTEMS),
        pl.format("{} {}", pl.col("dataset").replace(SET_NAMES), place).alias("input"),
        pl.concat_str(pl.lit("judge"), "judge", separator=" ").alias("rater"),
        pl.col("sys_ref").alias("output"),
    )
    return Dataset.of(
        entry.name,
        frame.unique(KEY, maintain_order=True).select(*KEY, "output", "dataset"),
        ratings=unpivot(frame, {a: a for a in ASPECTS}),
        notes=[
            "annotators 1 to 3 are positions in the file; annotator IDs are unknown",
            "inputs are numbered per system; equal numbers are not the same MR",
        ],
    )


def _one_set(folder: Path, part: pl.DataFrame, name: str, notes: list[str]) -> pl.DataFrame:
    """Return the rows of one data set with references and UniEval scores, if these files are available."""
    mr = pl.col("mr")
    occurrence = pl.int_range(pl.len()).over("mr", "system") + 1
    part = part.with_columns((mr.rank("dense").over("dataset")).alias("number"), occurrence.alias("occurrence"))
    again = pl.when(pl.col("occurrence") > 1).then(pl.format(" #{}", "occurrence")).otherwise(pl.lit(""))
    part = part.with_columns(
        pl.col("system").replace_strict(SYSTEMS),
        pl.format("{} {}{}", pl.lit(SET_NAMES[name]), "number", again).alias("input"),
        pl.lit(SET_NAMES[name]).alias("dataset"),
        mr.alias("source"),
    )
    if repeated := part.filter(pl.col("occurrence") > 1).height:
        notes.append(f"{SET_NAMES[name]}: {repeated} further outputs of a system for the same MR, numbered #2, #3, …")
    texts = _aligned_records(folder / f"{name.lower()}_with_refs.jsonl", part, "quality", notes)
    if texts:
        part = part.with_columns(
            pl.Series("output", [r["sys_summ"] for r in texts]),
            pl.Series("references", [r["ref_summs"] for r in texts], pl.List(pl.String)),
        )
    else:
        part = part.with_columns(
            pl.col("sys_ref").alias("output"), pl.lit(None, pl.List(pl.String)).alias("references")
        )
    if name != "BAGEL" and (
        predicted := _aligned_records(folder / f"unieval_{name.lower()}_predictions.jsonl", part, "overall", notes)
    ):
        part = part.with_columns(
            pl.Series(f"unieval_{a}", [r["predict_scores"][a] for r in predicted], pl.Float64)
            for a in ("naturalness", "informativeness", "overall")
        )
    return part


def _aligned_records(path: Path, part: pl.DataFrame, quality: str, notes: list[str]) -> list[Record]:
    """Return the records in the order of the medians; their ratings are compared row by row."""
    if not path.is_file():
        notes.append(f"{path.name} is missing: its texts or scores are left out")
        return []
    rows = sorted(records(path), key=lambda r: int(r["row"]))
    ratings = part.select(pl.col(ASPECTS).cast(pl.Float64)).rows()
    published = [tuple(float(r["scores"][a]) for a in ("informativeness", "naturalness", quality)) for r in rows]
    if ratings != published:
        raise DataError(f"{path}: the ratings differ from those of emnlp_data_medians.csv.")
    return rows
