"""Outputs and their perturbed versions as one Dataset, so that one call scores them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.random import Generator, SeedSequence, default_rng

from nlgauge.data.dataset import Dataset
from nlgauge.digests import digest
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.text.damage import ATTACKS, EFFECTS, attacked, damage
from nlgauge.text.thesaurus import same_meaning
from nlgauge.types import Ints

TASK_COLUMNS = ("source", "context", "references", "control")
MAX_WORDS = 1000  # words that perturbations insert from other texts
INJECT = "inject"  # all attacks
INNER_WORD = re.compile(r"(?<=[\w,] )\w[\w'-]+")  # words inside a sentence: what has a capital there is a name
# Texts from which a perturbation inserts: (kind, sample, rng) -> pool.
Pool = Callable[[str, dict[str, Any], Generator], Sequence[str]]


@dataclass(frozen=True)
class Versions:
    """`data` holds n originals, then n outputs for each kind and amount, in this order, changed or not: scores that
    compare the outputs of one system then see as many as before. `text[kind]` (amounts × n) numbers the changed texts
    of each output; −1: the kind does not apply."""

    data: Dataset
    inputs: list[str]
    kinds: list[str]
    amounts: tuple[float, ...]
    text: dict[str, Ints]
    notes: list[str]


def versions(
    data: Dataset,
    kinds: Sequence[str],
    amounts: Sequence[float],
    *,
    sample: int,
    keep_human: bool,
    seed: int,
    top: str = "5",
) -> Versions:
    """Return a sample of outputs with all their versions.

    Seeds derive from the names of system, input and kind, so a text depends neither on the order of the rows nor on the
    other kinds. `top` is the highest rating, which attacks name.
    """
    rows, notes = _chosen(data, sample, keep_human, seed)
    pool, kinds, skipped = _pools(data, rows, kinds, seed)
    there = [c for c in TASK_COLUMNS if c in rows.columns]
    base = rows.select("system", "input", "output", *there)
    blocks, text = [base], {}
    samples = rows.to_dicts()
    for kind in kinds:
        if kind in ATTACKS:  # one version, whatever the amount
            texts = [[attacked(s["output"], kind, top)] * len(amounts) for s in samples]
        else:
            texts = [_damaged(kind, s, amounts, pool, seed) for s in samples]
        text[kind] = np.array([_numbered(s["output"], made) for s, made in zip(samples, texts, strict=True)]).T
        for a, amount in enumerate(amounts):
            named = pl.concat_str("system", pl.lit(f" [{kind} {amount:g}]")).alias("system")
            blocks.append(base.with_columns(named, pl.Series("output", [made[a] for made in texts], pl.String)))
    whole = Dataset.of(data.name, pl.concat(blocks), human_systems=())
    return Versions(whole, rows["input"].to_list(), kinds, tuple(amounts), text, [*notes, *skipped])


def kinds_of(names: Sequence[str] | None, *, attacks: bool = False) -> list[str]:
    """Return the kinds of that name, in the order of the table of effects; by default all of them, and with `attacks`
    also all attacks. The name 'inject' stands for all attacks."""
    kinds = [*EFFECTS, *ATTACKS]
    for name in names or ():
        if name not in kinds and name != INJECT:
            listed = ", ".join([*EFFECTS, INJECT, *ATTACKS])
            raise NameUnknown(f"perturbation '{name}' not found.{did_you_mean(name, [*kinds, INJECT])} Use {listed}.")
    if names is None:
        return kinds if attacks else list(EFFECTS)
    return [kind for kind in kinds if kind in names or (INJECT in names and kind in ATTACKS)]


def _number(*parts: object) -> int:
    return int.from_bytes(digest("\0".join(map(str, parts)), 16))


def _chosen(data: Dataset, sample: int, keep_human: bool, seed: int) -> tuple[pl.DataFrame, list[str]]:
    """Draw at most `sample` outputs, from as many inputs as possible, in an order that does not depend on names."""
    if sample < 2:
        raise NlgaugeError(f"{option('sample')} must be at least 2 outputs; got {sample}.")
    rows, notes = data.samples, []
    if "output" not in rows.columns or not rows["output"].drop_nulls().len():
        raise NeedsMissing(
            f"robustness requires output texts; name their column with {option('output')}.", code="no_texts"
        )
    if data.human_systems and not keep_human:
        rows = rows.filter(~pl.col("system").is_in(list(data.human_systems)))
        notes.append(f"human-written outputs are excluded: {', '.join(sorted(data.human_systems))}.")
    full = rows.filter(pl.col("output").fill_null("").str.strip_chars() != "")
    if full.height < rows.height:
        notes.append(f"{rows.height - full.height} empty outputs are excluded.")
    if full.height < 2:
        raise NeedsMissing(f"robustness requires at least 2 outputs; found {full.height}.", code="too_few_outputs")
    # The sample depends on the texts, not on names or positions, which may differ between files.
    texts = [c for c in ("output", *TASK_COLUMNS) if c in full.columns]
    lots = [
        str(_number(seed, *(sorted(v) if isinstance(v, list) else v for v in row))).zfill(39)
        for row in full.select(texts).iter_rows()
    ]
    full = full.with_columns(pl.Series("_lot", lots)).sort("_lot")
    full = full.with_columns(pl.int_range(pl.len()).over("input").alias("_round")).sort("_round", "_lot")
    if full.height > sample:
        notes.append(f"{sample} of {full.height} outputs, drawn at random; {option('sample', full.height)} uses all.")
    return full.head(sample).sort("input", "system").drop("_lot", "_round"), notes


def _damaged(kind: str, sample: dict[str, Any], amounts: Sequence[float], pool: Pool, seed: int) -> list[str]:
    own = SeedSequence([seed, _number(kind, sample["output"])])
    entries = pool(kind, sample, default_rng(own.spawn(1)[0]))
    # One seed for all amounts, so that larger amounts include the smaller ones.
    return [damage(sample["output"], kind, amount, default_rng(own), entries).text for amount in amounts]


def _numbered(original: str, made: list[str]) -> list[int]:
    seen: dict[str, int] = {}
    return [-1 if text == original else seen.setdefault(text, len(seen)) for text in made]


def _pools(data: Dataset, rows: pl.DataFrame, kinds: Sequence[str], seed: int) -> tuple[Pool, list[str], list[str]]:
    """Return the texts that each kind inserts from, the kinds that are possible, and notes on the others."""
    skipped: dict[str, str] = {}
    source = next((c for c in TASK_COLUMNS[:2] if c in rows.columns and rows[c].drop_nulls().len()), None)
    if source is None:
        skipped["copy"] = "the data have neither sources nor contexts"
    try:
        lines = _thesaurus(rows["output"].to_list()) if "synonym" in kinds else {}
    except NeedsMissing as error:
        skipped["synonym"] = error.refusals[0].values.get("needed", str(error))
        lines = {}
    words = sorted({word for text in rows["output"] for word in INNER_WORD.findall(text)})
    if len(words) > MAX_WORDS:
        words = sorted(default_rng(SeedSequence(seed)).choice(words, MAX_WORDS, replace=False).tolist())
    others = _others(data)

    def pool(kind: str, sample: dict[str, Any], rng: Generator) -> Sequence[str]:
        if kind in ("replace", "entity"):
            return words
        if kind == "copy" and source is not None:
            return [sample[source] or ""]
        if kind == "synonym":
            return [lines[word] for word in sorted(set(_plain(sample["output"]))) if word in lines]
        if kind == "wrong":
            able = [text for name, text in others[sample["system"]] if name != sample["input"]]
            return [able[int(rng.integers(len(able)))]] if able else []
        return ()

    notes = [f"{kind} left out: {why}." for kind, why in skipped.items() if kind in kinds]
    return pool, [kind for kind in kinds if kind not in skipped], notes


def _others(data: Dataset) -> dict[str, list[tuple[str, str]]]:
    """Return (input, output) of all outputs of each system, which are as fluent as the perturbed one."""
    found: dict[str, list[tuple[str, str]]] = {}
    for system, name, text in data.samples.select("system", "input", "output").sort("output").iter_rows():
        if text and text.strip():
            found.setdefault(system, []).append((name, text))
    return found


def _plain(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text)


def _thesaurus(texts: Sequence[str]) -> dict[str, str]:
    """Return the words of the texts that have synonyms, each with them."""
    words = {word for text in texts for word in _plain(text)}
    return {word: " ".join([word, *found]) for word in words if (found := same_meaning(word))}
