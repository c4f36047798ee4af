"""BAGEL, SFHOTEL and SFREST: the outputs of Novikova et al. (2017), with the medians of people's ratings."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import DataError
from nlgauge.papers.catalogue import Entry, File, Origin
from nlgauge.papers.catalogue._tools import Record, csv_table, numbers, records, unpivot

FOLDER = "bagel_sfhotel_sfrest"
ASPECTS = ("informativeness", "naturalness", "quality")
# The file's names, and the paper's.
SYSTEMS = {"Dusek": "TGEN", "WEN": "RNNLG", "LOLS": "LOLS"}
SETS = {"BAGEL": "BAGEL", "SFHOT": "SFHOTEL", "SFRES": "SFREST"}


def load(folder: Path) -> Dataset:
    """2,460 outputs; `dataset`, `mr_type` and `domain` are columns to split by."""
    table = csv_table(folder / FOLDER / "emnlp_data_medians.csv")
    metrics = table.columns[table.columns.index("TER") : table.columns.index("parser.sc.max") + 1]
    notes = ["ratings are medians; the single ratings were not published with the set"]
    parts = [
        _one_set(folder / FOLDER, part, str(name[0]), notes)
        for name, part in table.group_by("dataset", maintain_order=True)
    ]
    frame = pl.concat(parts, how="diagonal")
    extra = [c for c in frame.columns if c.startswith("unieval_")]
    return Dataset.of(
        "bagel-sf",
        frame.select(*KEY, "output", "source", "references", "dataset", "mr_type", "domain"),
        ratings=unpivot(frame, {a: a for a in ASPECTS}),
        scores=frame.select(*KEY, *numbers(frame, [*metrics, *extra])),
        lower=["TER", "lev.dist", "n.misspel"],
        notes=dict.fromkeys(notes),
    )


def _one_set(folder: Path, part: pl.DataFrame, name: str, notes: list[str]) -> pl.DataFrame:
    """The rows of one data set with references and UniEval scores, where those files are there."""
    mr = pl.col("mr")
    occurrence = pl.int_range(pl.len()).over("mr", "system") + 1
    part = part.with_columns(
        (mr.rank("dense").over("dataset")).alias("number"), occurrence.alias("occurrence")
    )
    again = pl.when(pl.col("occurrence") > 1).then(pl.format(" #{}", "occurrence")).otherwise(pl.lit(""))
    part = part.with_columns(
        pl.col("system").replace_strict(SYSTEMS),
        pl.format("{} {}{}", pl.lit(SETS[name]), "number", again).alias("input"),
        pl.lit(SETS[name]).alias("dataset"),
        mr.alias("source"),
    )
    if repeated := part.filter(pl.col("occurrence") > 1).height:
        notes.append(
            f"{SETS[name]}: {repeated} further outputs of one system for the same MR are numbered #2, #3, …"
        )
    texts = _beside(folder / f"{name.lower()}_with_refs.jsonl", part, "quality", notes)
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
        predicted := _beside(folder / f"unieval_{name.lower()}_predictions.jsonl", part, "overall", notes)
    ):
        part = part.with_columns(
            pl.Series(f"unieval_{a}", [r["predict_scores"][a] for r in predicted], pl.Float64)
            for a in ("naturalness", "informativeness", "overall")
        )
    return part


def _beside(path: Path, part: pl.DataFrame, quality: str, notes: list[str]) -> list[Record]:
    """Records that follow the order of the medians; their ratings prove it, row by row."""
    if not path.is_file():
        notes.append(f"{path.name} is not there: its texts or scores are left out")
        return []
    rows = sorted(records(path), key=lambda r: int(r["row"]))
    ours = part.select(pl.col(ASPECTS).cast(pl.Float64)).rows()
    theirs = [tuple(float(r["scores"][a]) for a in ("informativeness", "naturalness", quality)) for r in rows]
    if ours != theirs:
        raise DataError(f"{path}: its rows are not those of emnlp_data_medians.csv (the ratings differ).")
    return rows


def _file(name: str, size: int, sha256: str, layout: str) -> File:
    return File(f"{FOLDER}/{name}", size, sha256, layout, extra=True)


REFS = "JSONL: row, system, src, sys_summ, ref_summs[], scores{informativeness, naturalness, quality}"
PREDICTED = "JSONL: row, scores{informativeness, naturalness, overall}, predict_scores{the same three}"
ENTRIES = (
    Entry(
        name="bagel-sf",
        title="BAGEL, SFHOTEL and SFREST outputs of Novikova et al.",
        task="data-to-text",
        aspects=dict.fromkeys(ASPECTS, "1–6, median"),
        raters="medians over crowd raters (3 an output; an even number for LOLS)",
        licence="MIT (ratings, UniEval scores), Apache-2.0 (references)",
        cite="novikova-etal-2017-need",
        reference="Novikova, Dušek, Cercas Curry, Rieser (2017). Why We Need New Evaluation Metrics for "
        "NLG. EMNLP.",
        origins=(
            Origin("jeknov/EMNLP_17_submission", "ed7b667", "emnlp_data_medians.csv"),
            Origin("neulab/BARTScore", "248f511", "D2T/{BAGEL,SFHOT,SFRES}/data.pkl"),
            Origin(
                "maszhongming/UniEval",
                "d33e7b6",
                "reproduce/unieval_predict/data2text/{sfhot,sfres}_result.json",
            ),
        ),
        papers=("novikova2017",),
        shape="2 systems × 202 (BAGEL), 398 (SFHOTEL), 580 (SFREST) MRs; 2,460 outputs",
        files=(
            File(
                f"{FOLDER}/emnlp_data_medians.csv",
                988106,
                "d655cce3e3ade250df4611a15f5bda1b1ccd7afb776b1931d6f2a3fe1b8092b2",
                "CSV, one row an output",
                # Another commit has the parser scores with the other sign (983,186 bytes).
                Origin(
                    "jeknov/EMNLP_17_submission",
                    "8cf5dff86034c13fdf692db0394b58e9376eee91",
                    "emnlp_data_medians.csv",
                ),
            ),
            _file(
                "bagel_with_refs.jsonl",
                174073,
                "1915847cf1e9ca0e91c434f949c2ef691eb2f2808165063c6862d0b050316718",
                REFS,
            ),
            _file(
                "sfhot_with_refs.jsonl",
                673707,
                "43d5f46ad010f2badfb23a5a167603c4f556def00cd3363520f5f8a669e35e2e",
                REFS,
            ),
            _file(
                "sfres_with_refs.jsonl",
                580254,
                "ae8fbf3a1a7fcaf0dfcc67027a81e74262100b6b9fea62ee3c5e1b03b23cc7a0",
                REFS,
            ),
            _file(
                "unieval_sfhot_predictions.jsonl",
                196648,
                "5b0858abdaa30f0bf224a450cb5a5613f3a71d833534a3c911c544c3cc23a946",
                PREDICTED,
            ),
            _file(
                "unieval_sfres_predictions.jsonl",
                265934,
                "3d0e8d3cac28e8ecd574050a5df254ff1f9951d89af0355a58c27664c67f6bc2",
                PREDICTED,
            ),
        ),
        missing="The individual ratings (emnlp_data_individual_hum_scores.csv) are not redistributed "
        "here: the authors' repository names their file; UniEval scores exist for SFHOTEL and SFREST only.",
        notes=(
            "Systems carry the paper's names: TGEN is 'Dusek' in the file, RNNLG 'WEN'.",
            "Parser scores are negative here (log-probabilities); the paper prints them without the sign.",
        ),
        loader=load,
    ),
)
