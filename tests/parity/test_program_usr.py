"""USR beside the steps of its authors' scripts (no package has them), written out plainly on the same weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import OTHER, SOURCE, agree, bert, installed, ours, tokenizers_as_they_were

# The means and deviations as the authors' regression script states them.
MLM = (-1.012293440649907, 0.39053753419230813)
DRC = (0.8604811806918587, 0.30259338627812254)
DRF = (0.8472124995904354, 0.27987823011851076)
HISTORY = "The bridge closed.\nWho built the mill?"
RESPONSES = ["Anna  built it, people said.", "It was the year of the great flood! " * 3, OTHER * 2]
# Longer than the response wherever a pair is cut: of an odd number of places the last one is the first text's there, the
# longer one's in tokenizers of today. Pairs of the authors' RoBERTa leave an even number.
FACTS = ["_nofact", SOURCE, SOURCE + OTHER]


def given() -> Any:
    from nlgauge.metrics import Batch

    return Batch.from_columns(RESPONSES, [HISTORY] * 3, FACTS)


def turn(text: str) -> str:
    return " ".join(text.lower().split()) + " _eos"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    installed()
    made = tmp_path_factory.mktemp("usr")
    two = {"num_labels": 2, "kind": "SequenceClassification"}
    return {
        "mlm": bert("MaskedLM", made / "mlm"),
        "drc": bert(folder=made / "drc", seed=5, **two),
        "drf": bert(folder=made / "drf", seed=6, **two),
    }


def loaded(folder: str, auto: str) -> tuple[Any, Any]:
    import transformers as tf

    return tf.AutoTokenizer.from_pretrained(folder), getattr(tf, auto).from_pretrained(folder).eval()


def mlm(folder: str) -> list[float]:
    """run_lm_finetuning.py: a row for each token of the line but the two ends, that token masked; minus the mean loss."""
    import torch

    tokenizer, model = loaded(folder, "AutoModelForMaskedLM")
    found = []
    for response in RESPONSES:
        line = f"{turn(HISTORY.splitlines()[-1])} _go {turn(response)}"
        ids = torch.tensor(
            [tokenizer.cls_token_id, *tokenizer(line, add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]
        )
        rows = ids.repeat(len(ids) - 2, 1)
        labels = torch.full_like(rows, -100)
        for i in range(len(rows)):
            labels[i, i + 1] = rows[i, i + 1]
            rows[i, i + 1] = tokenizer.mask_token_id
        with torch.inference_mode():
            found.append(-float(model(rows, labels=labels).loss))
    return found


def dr(folder: str, x: str) -> list[float]:
    """train_understandable.py with GLUE's features: pairs of 128 tokens, one token at a time from the longer text."""
    import torch

    tokenizer, model = loaded(folder, "AutoModelForSequenceClassification")
    found = []
    for response, fact in zip(RESPONSES, FACTS, strict=True):
        before = turn(fact) if x == "f" else f"{turn(HISTORY.splitlines()[-1])} {turn(fact)}"
        a, b = (tokenizer(t, add_special_tokens=False)["input_ids"] for t in (before, f"_go {turn(response)}"))
        while len(a) + len(b) + 3 > 128:
            a, b = (a[:-1], b) if len(a) > len(b) else (a, b[:-1])
        ends = tokenizer.cls_token_id, tokenizer.sep_token_id
        row = torch.tensor([[ends[0], *a, ends[1], *b, ends[1]]])
        kinds = torch.tensor([[0] * (len(a) + 2) + [1] * (len(b) + 1)])
        with torch.inference_mode():
            found.append(float(model(row, token_type_ids=kinds).logits.softmax(-1)[0, 1]))
    return found


def test_usr_mlm_is_the_script_s(folders: dict[str, str]) -> None:
    agree("usr-mlm, script", ours(f"usr-mlm(model={folders['mlm']!r})", given()), mlm(folders["mlm"]), 1e-5)


@pytest.mark.parametrize("x", ["c", "f"])
def test_usr_dr_is_the_script_s_with_its_128_tokens(folders: dict[str, str], x: str) -> None:
    folder = folders[f"dr{x}"]
    found = ours(f"usr-dr(x={x!r}, model={folder!r})", given())
    agree(f"usr-dr {x}, script", found, dr(folder, x), 1e-5)
    assert np.ptp(found) > 0.01


def test_usr_is_the_script_s_regression_of_six_numbers(folders: dict[str, str]) -> None:
    parts = {
        "mlm": (mlm(folders["mlm"]), MLM),
        "drc": (dr(folders["drc"], "c"), DRC),
        "drf": (dr(folders["drf"], "f"), DRF),
    }
    m, c, f = (np.subtract(values, mean) / sd for values, (mean, sd) in parts.values())
    theirs = 0.6601 * m + 0.4035 * m + 0.5133 * c + 0.9605 * c + 0.3564 * f + 3.5975
    named = ", ".join(f"{k}={v!r}" for k, v in folders.items())
    agree("usr, script", ours(f"usr({named})", given()), theirs.tolist(), 1e-5)


def test_usr_mlm_equals_minicons_on_the_same_line(folders: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pseudo-log-likelihood masks every token but the ends in turn."""
    installed("minicons")
    tokenizers_as_they_were(monkeypatch)
    from minicons import scorer

    lines = [f"{turn(HISTORY.splitlines()[-1])} _go {turn(r)}" for r in RESPONSES]
    theirs = scorer.MaskedLMScorer(folders["mlm"], "cpu").sequence_score(lines, PLL_metric="original")
    agree("usr-mlm, minicons", ours(f"usr-mlm(model={folders['mlm']!r})", given()), theirs, 1e-5)


def test_the_lines_that_we_build_are_the_published_ones(real_data: Path) -> None:
    """All 300 published lines come out of the texts, and the constants are the scores' means and deviations."""
    import json

    import polars as pl

    from nlgauge.metrics.learned.usr import USUAL, last, said

    published = pl.read_csv(real_data / "usr_dialogue" / "usr_topical_metric_scores.csv.gz")
    texts = [
        json.loads(t) for t in (real_data / "usr_dialogue" / "usr_topical_chat.jsonl").read_text("utf-8").splitlines()
    ]
    assert {*published["turns"]} <= {f"{last(t['context'])} {said(t['response'])}" for t in texts}
    for column, constants in zip(("usr_mlm", "usr_dr_context", "usr_dr_fact"), USUAL.values(), strict=True):
        values = published[column].to_numpy()
        assert (values.mean(), values.std()) == pytest.approx(constants, abs=1e-12)
