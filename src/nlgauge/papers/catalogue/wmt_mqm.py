"""WMT MQM: average MQM a segment for newstest2020, newstest2021 and TED, with texts for TED."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers.mqm import Mqm
from nlgauge.papers.catalogue import Entry, File, Origin

# The file of marked errors calls the references otherwise than the averages do.
REFERENCES = {"ref": "ref-A", "refB": "ref-B"}
REPOSITORY = "google/wmt-mqm-human-evaluation"


def load(folder: Path, name: str, pair: str) -> Dataset:
    """MQM is minus the weighted errors, so more is better; a segment that nobody rated has no rating."""
    stem = f"mqm_{name}_{pair}"
    averages = Mqm.read(folder / "wmt_mqm" / f"{stem}.avg_seg_scores.tsv")
    samples, ratings, notes = averages.samples, averages.ratings, list(averages.notes)
    if unrated := samples.height - ratings.height:
        notes.append(f"{unrated} of {samples.height} outputs were not rated")
    marked = folder / "wmt_mqm" / f"{stem}.tsv.gz"
    if by_rater := name == "ted" and marked.is_file():
        errors = Mqm.read(marked)
        texts = _rekeyed(errors.samples).select(*KEY, "output", "source", pl.col("document").alias("doc"))
        samples = samples.join(texts, on=KEY, how="left", maintain_order="left")
        # One rater a segment: the average is that rater's score, so naming the rater loses nothing.
        ratings = _rekeyed(errors.ratings)
        notes += [*errors.notes, f"{samples['output'].null_count()} outputs without a rating have no text"]
    elif name == "ted":
        notes.append(f"{marked.name} is not there: no texts and no raters")
    return Dataset.of(
        f"mqm-{name}-{pair[:2]}-{pair[2:]}",
        samples,
        ratings=ratings,
        persons=by_rater,
        people=averages.people,
        notes=notes,
    )


def _rekeyed(frame: pl.DataFrame) -> pl.DataFrame:
    """With the averages' names: their segments are numbered through, without the document."""
    return frame.with_columns(
        pl.col("system").replace(REFERENCES), pl.col("input").str.split(":").list.last()
    )


@dataclass(frozen=True)
class _Release:
    name: str
    pair: str
    shape: str
    size: int
    sha256: str
    commit: str
    path: str
    ratings: tuple[int, str] | None = None

    def entry(self) -> Entry:
        file = f"mqm_{self.name}_{self.pair}.avg_seg_scores.tsv"
        # Not said to be untouched when collected, but of the origin's size, with the same last lines.
        origin = Origin(REPOSITORY, self.commit, f"{self.path}/{file}")
        files = [
            File(
                f"wmt_mqm/{file}",
                self.size,
                self.sha256,
                "whitespace separated: system, score or None, segment",
                origin,
            )
        ]
        if self.ratings:
            files.append(
                File(
                    f"wmt_mqm/mqm_{self.name}_{self.pair}.tsv.gz",
                    *self.ratings,
                    "TSV, gzipped here: system, doc, seg_id, rater, source, target, category, severity",
                    extra=True,
                )
            )
        people = {
            "newstest2020": ("Human-A.0", "Human-B.0", *(["Human-P.0"] if self.pair == "ende" else [])),
            "newstest2021": tuple(f"ref-{r}" for r in ("ABCD" if self.pair == "ende" else "AB")),
            "ted": ("ref-A", *(["ref-B"] if self.pair == "zhen" else [])),
        }
        first = self.name == "newstest2020"
        return Entry(
            name=f"mqm-{self.name}-{self.pair[:2]}-{self.pair[2:]}",
            title=f"WMT MQM, {self.name} {self.pair[:2]}–{self.pair[2:]}",
            task="machine translation",
            aspects={"mqm": "≤ 0, minus the weighted errors, mean over raters"},
            raters="one expert a segment" if self.ratings else "mean over the experts of a segment",
            licence="Apache-2.0",
            cite="freitag-etal-2021-experts" if first else "freitag-etal-2021-results",
            reference="Freitag, Foster, Grangier, Ratnakar, Tan, Macherey (2021). Experts, Errors, and "
            "Context: A Large-Scale Study of Human Evaluation for Machine Translation. TACL 9."
            if first
            else "Freitag, Rei, Mathur, Lo, Stewart, Foster, Lavie, Bojar (2021). Results of the WMT21 "
            "Metrics Shared Task: Evaluating Metrics with Expert-based Human Evaluations on TED and News "
            "Domain. WMT.",
            origins=(Origin(REPOSITORY, "7fadea2", f"{self.name}/{self.pair}/"),),
            people=people[self.name],
            shape=self.shape,
            files=tuple(files),
            missing="Metric scores." if self.ratings else "Texts, single raters and metric scores.",
            loader=partial(load, name=self.name, pair=self.pair),
        )


LATER = "b957b786cedcd737cd1961c18d4ec32296a174da"
RELEASES = (
    _Release(
        "newstest2020",
        "ende",
        "10 systems (3 of them people) × 1,418 segments",
        415974,
        "729f515bd0d5cf77845e9516a13472ddc9773001b2275e04a0ad4ab7639559ff",
        "3ffbb31e8cbd2dff3e295a8f57af780195f8ac9f",
        "ende",
    ),
    _Release(
        "newstest2020",
        "zhen",
        "10 systems (2 of them people) × 2,000 segments",
        580085,
        "0a58ae9f2b24600367499f31d2df12491ca992277b4a1f2a8b62523c416383a6",
        "27e76eb1a8b3a91b58fbc850660bcd2e92945d94",
        "newstest2020/zhen",
    ),
    _Release(
        "newstest2021",
        "ende",
        "17 systems (4 of them people) × 1,002 segments, 527 rated",
        374111,
        "a31b7f00f185d8749d5195516b8e8ee71e6b8b2ef15fb58406ea96d20c255102",
        LATER,
        "newstest2021/ende",
    ),
    _Release(
        "newstest2021",
        "zhen",
        "15 systems (2 of them people) × 1,948 segments, 650 rated",
        614954,
        "d0754405d037ac7f0d565283853b17f111de45610da0f66ccdbaa7f76bd2b17b",
        LATER,
        "newstest2021/zhen",
    ),
    _Release(
        "ted",
        "ende",
        "14 systems (1 of them people) × 606 segments, 529 rated",
        208518,
        "4f46f24bb516f4fc0483de2790632eff39930977d9ebd778378a9a2561d3e125",
        LATER,
        "ted/ende",
        (184818, "b77473f06c8b375b6798b9c21879ccdf5510f8a5fc068ed49d2a08bfd9a78cfd"),
    ),
    _Release(
        "ted",
        "zhen",
        "15 systems (2 of them people) × 843 segments, 529 rated",
        277370,
        "fe7c8bcfe5e864194c8ce43e7945ca867a7c2da7e185ae067283279078d0e65c",
        LATER,
        "ted/zhen",
        (226875, "c58d29453295301f15f75075a784ffd87cbef55b6a0d3e5529172313661db70b"),
    ),
)
ENTRIES = tuple(release.entry() for release in RELEASES)
