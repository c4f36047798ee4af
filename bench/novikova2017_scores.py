"""novikova2017's metric columns recomputed from the texts: `NLGAUGE_DATA=... python bench/novikova2017_scores.py`.

Per metric the Spearman correlation with the published column and the share of values within 1 %, twice: on the texts as
they stand in `*_with_refs.jsonl`, and prepared as the authors' numbers show that theirs were (found by comparing, not
documented):

- names, areas, addresses, phone numbers and near-by places of SFHOTEL and SFREST are "X", other slots are not;
- lower-cased; BAGEL is detokenised on both sides, LOLS's outputs elsewhere on theirs only (punctuation is glued to
  the word), so that Stanford's tokenizer takes a final "x." for an initial, which matches "x." and not "x";
- TER and LEPOR split those texts at white space; NIST compares with the last reference only, LEPOR with the first only;
- CIDEr and NIST count frequencies over one data set and one system's file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import spearmanr

from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.papers.catalogue import load_set

SLOTS = ("name", "area", "near", "address", "phone")
NOVIKOVA = "preset='novikova2017'"
Texts = list[str]


class Row(NamedTuple):
    """A published column, our metric, and how the authors' texts and references went into it."""

    column: str
    spec: str
    scale: float = 1.0
    references: str = "all"
    by_file: bool = False
    initials: bool = False  # tokenised by Stanford's program
    lexical: bool = False


ROWS = (
    *(Row(f"Bleu_{n}", f"bleu(order={n}, preset='coco')", 0.01, initials=True) for n in (1, 2, 3, 4)),
    Row("ROUGE_L", "rouge-l(preset='coco')", initials=True),
    Row("METEOR", "meteor(preset='coco')", initials=True),
    Row("CIDEr", "cider-d", by_file=True, initials=True),
    Row("TER", "ter", 0.01),
    Row("NIST", "nist", references="last", by_file=True),
    Row("LEPOR", "lepor(tokenize='none', alpha=1, beta=1)", references="first"),
    Row("sys.ref.len", "len", lexical=True),
    Row("sys.cpw", "cpw", lexical=True),
    Row("sys.wps", f"wps({NOVIKOVA})", lexical=True),
    Row("sys.sps", f"sps({NOVIKOVA})", lexical=True),
    Row("sys.read.flesch", f"flesch({NOVIKOVA})", lexical=True),
)


def table() -> pl.DataFrame:
    """Texts and published columns, one row an output."""
    data = load_set("bagel-sf")
    wide = data.samples.join(data.scores, on=["system", "input"], how="left", maintain_order="left")
    return wide.with_columns(pl.concat_str("dataset", "system", separator=" ").alias("file"))


def delexicalised(text: str, source: str) -> str:
    """Slot values as X: `You want a hotel in fort mason ?` -> `You want a hotel in X ?`."""
    found = {v for slot, v in re.findall(r"(\w+)='([^']*)'", source) if slot in SLOTS and v != "X"}
    for value in sorted(found, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "X", text, flags=re.IGNORECASE)
    return re.sub(r"\bX\.(?= )", "X .", text)


def glued(text: str) -> str:
    return re.sub(r" ([.,?!])", r"\1", text)


def joined(text: str) -> str:
    return re.sub(r" ('\w+|n't)\b", r"\1", glued(text))


def prepared(rows: pl.DataFrame, row: Row) -> tuple[Texts, list[Texts]]:
    """Outputs and references as the authors had them."""
    outputs, references = [], []
    for output, refs, source, dataset, system in rows.select(
        "output", "references", "source", "dataset", "system"
    ).iter_rows():
        if row.lexical:
            outputs.append(joined(output) if dataset == "BAGEL" else output)
            references.append(refs)
            continue
        bagel = dataset == "BAGEL"
        clean: Callable[[str], str] = joined if bagel else glued if system == "LOLS" else str
        texts = [output, *refs] if bagel else [delexicalised(t, source) for t in (output, *refs)]
        texts = [clean(texts[0]).lower(), *((joined(t) if bagel else t).lower() for t in texts[1:])]
        if row.initials:
            texts = [re.sub(r"\bx\.", "xinitial", t) for t in texts]
        outputs.append(texts[0])
        references.append({"all": texts[1:], "first": texts[1:2], "last": texts[-1:]}[row.references])
    return outputs, references


def scored(spec: str, outputs: Texts, references: list[Texts], file: np.ndarray | None = None) -> np.ndarray:
    """Our values, file by file where frequencies are counted within one."""
    metric = metric_from_spec(spec)
    if file is None:
        return metric.score(Batch.from_columns(outputs, references=references)).values
    values = np.full(len(outputs), np.nan)
    for name in np.unique(file):
        at = np.flatnonzero(file == name)
        part = Batch.from_columns([outputs[i] for i in at], references=[references[i] for i in at])
        values[at] = metric.score(part).values
    return values


def compared(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """Spearman correlation, and the share within 1 % of the published value.

    Ours with the digits that were published, so that what is tied there (0.999999999) is tied here.
    """
    ours = np.array([float(f"{value:.8g}") for value in ours])
    near = np.abs(ours - theirs) <= 0.01 * np.abs(theirs) + 1e-12
    return float(spearmanr(ours, theirs, nan_policy="omit")[0]), float(near.mean())


def as_they_stand(rows: pl.DataFrame, row: Row) -> tuple[float, float]:
    ours = scored(row.spec, rows["output"].to_list(), rows["references"].to_list())
    return compared(row.scale * ours, rows[row.column].to_numpy())


def as_the_authors(rows: pl.DataFrame, row: Row) -> np.ndarray:
    file = rows["file"].to_numpy() if row.by_file else None
    return row.scale * scored(row.spec, *prepared(rows, row), file)


def main() -> None:
    start = time.perf_counter()
    rows = table()
    print(f"{len(rows)} outputs; Spearman with the published column, share within 1 %\n")
    print("| column | ours | texts as they stand | prepared as theirs | within 1 %, file by file |")
    print("| --- " * 5 + "|")
    for row in ROWS:
        try:
            plain, ours = as_they_stand(rows, row), as_the_authors(rows, row)
        except NeedsMissing as missing:
            print(f"| {row.column} | `{row.spec}` | {missing} | | |")
            continue
        best, files = compared(ours, rows[row.column].to_numpy()), rows["file"].to_numpy()
        by_file = [
            f"{name} {compared(ours[files == name], rows[row.column].to_numpy()[files == name])[1]:.1%}"
            for name in sorted(set(files))
        ]
        figures = " | ".join(f"{rho:.4f}, {share:.2%}" for rho, share in (plain, best))
        print(f"| {row.column} | `{row.spec}` | {figures} | {', '.join(by_file)} |", flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
