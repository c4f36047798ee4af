"""The texts of BAGEL, SFHOTEL and SFREST as the programs of Novikova et al. (2017) had them.

Found by comparing with the scores that they published; the paper does not describe it:

- names, areas, addresses, phone numbers and near-by places of SFHOTEL and SFREST are "X", other slots are not;
- lower-cased; BAGEL is detokenized on both sides, LOLS's outputs elsewhere on theirs only (punctuation is glued to
  the word before);
- Stanford's tokenizer takes a final "x." for an initial, which matches "x." and not "x".
"""

from __future__ import annotations

import re
from typing import Literal

import polars as pl

from nlgauge.text.treebank import without_punctuation

Texts = Literal["released", "authors", "delexicalised", "tokenized"]
Which = Literal["all", "first", "last"]
SLOTS = ("name", "area", "near", "address", "phone")
INITIAL = "xinitial"  # replaces "x.", one token


def prepared(frame: pl.DataFrame, texts: Texts, references: Which) -> pl.DataFrame:
    """Return the outputs and references of the frame in the requested form."""
    outputs, lists = [], []
    for output, given, source, dataset, system, own in frame.select(
        "output", "references", "source", "dataset", "system", "sys_ref"
    ).iter_rows():
        if texts in ("released", "authors"):
            outputs.append(output if texts == "released" else own)
            lists.append(given)
            continue
        both = delexicalized(output, given or [], source, bagel=dataset == "BAGEL", lols=system == "LOLS")
        both = [tokenized(text) for text in both] if texts == "tokenized" else both
        outputs.append(both[0])
        lists.append(both[1:] or None)
    selected = {"all": slice(None), "first": slice(1), "last": slice(-1, None)}[references]
    return frame.with_columns(
        pl.Series("output", outputs, pl.String),
        pl.Series("references", [refs and refs[selected] for refs in lists], pl.List(pl.String)),
    )


def delexicalized(output: str, references: list[str], source: str, bagel: bool, lols: bool) -> list[str]:
    """Return the output and then its references, lower-cased, with X for names."""
    if bagel:
        return [joined(text).lower() for text in (output, *references)]
    delexicalized_texts = [_with_x(text, source) for text in (output, *references)]
    return [
        (glued(delexicalized_texts[0]) if lols else delexicalized_texts[0]).lower(),
        *(text.lower() for text in delexicalized_texts[1:]),
    ]


def _with_x(text: str, source: str) -> str:
    """Replace names by X: `You want a hotel in fort mason ?` becomes `You want a hotel in X ?`."""
    values = {v for slot, v in re.findall(r"(\w+)='([^']*)'", source) if slot in SLOTS and v != "X"}
    for value in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "X", text, flags=re.IGNORECASE)
    return re.sub(r"\bX\.(?= )", "X .", text)


def glued(text: str) -> str:
    """Remove the blanks before punctuation.

    >>> glued("X has internet .")
    'X has internet.'
    """
    return re.sub(r" ([.,?!])", r"\1", text)


def joined(text: str) -> str:
    """Join contractions and punctuation to the words before them.

    >>> joined("it 's X , is n't it ?")
    "it's X, isn't it?"
    """
    return re.sub(r" ('\w+|n't)\b", r"\1", glued(text))


def tokenized(text: str) -> str:
    """Join the tokens of a text with blanks, without punctuation.

    >>> tokenized("there is no x, but x.")
    'there is no x but x.'
    """
    return without_punctuation(re.sub(r"\bx\.", INITIAL, text)).replace(INITIAL, "x.")
