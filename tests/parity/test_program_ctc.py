"""Embedding matching (E) of deng2021 beside its authors' package ctc-score on the same weights and layer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from programs import OTHER, SOURCE, SUMMARIES, agree, batch, bert, installed, ours, stand_in

SOURCES, LAYER = [SOURCE, OTHER, SOURCE, OTHER], 2


@pytest.fixture
def aligner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Any, str]]:
    installed("ctc_score")
    pytest.importorskip("bert_score", reason="the oracle bert-score is not installed")
    import nltk.corpus
    import transformers

    folder = bert("model", tmp_path, num_hidden_layers=3)
    # Read when it is imported: nltk's word list, a file that no package carries, and a cleaner that E does not use.
    monkeypatch.setattr(nltk.corpus, "stopwords", SimpleNamespace(words=lambda *_: []))
    stand_in(monkeypatch, "cleantext", clean=None)
    from ctc_score.models.bert_aligner import BERTAligner

    found = BERTAligner(aggr_type="mean", model_type=folder, num_layers=LAYER, lang="en", device="cpu")
    if not hasattr(found._tokenizer, "build_inputs_with_special_tokens"):
        found._tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    yield found, folder
    for name in [m for m in sys.modules if m.partition(".")[0] == "ctc_score"]:
        del sys.modules[name]  # it was imported with the stand-ins


def test_consistency_and_relevance_equal_ctc_score(aligner: tuple[Any, str]) -> None:
    program, folder = aligner
    given = batch(SUMMARIES, SOURCES, references=[SUMMARIES[2]] * 4)
    y_x = [program.get_score(y, x, remove_stopwords=False) for y, x in zip(SUMMARIES, SOURCES, strict=True)]
    options = f"align='E', encoder={folder!r}, layer={LAYER}"
    found = ours(f"align-expr(expr='mean(y>x)', {options})", given)
    agree("ctc E, consistency", found, y_x, 1e-5)
    assert np.ptp(found) > 0.01
    r_y = [program.get_score(SUMMARIES[2], y, remove_stopwords=False) for y in SUMMARIES]
    both = [a * b for a, b in zip(y_x, r_y, strict=True)]
    agree("ctc E, relevance", ours(f"align-expr(expr='mean(r>y)*mean(y>x)', {options})", given), both, 1e-5)
    program._aggr_type = "sum"
    sums = [program.get_score(y, x, remove_stopwords=False) for y, x in zip(SUMMARIES, SOURCES, strict=True)]
    agree("ctc E, sums", ours(f"align-expr(expr='sum(y>x)', {options})", given), sums, 1e-4)
