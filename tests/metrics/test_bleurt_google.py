"""Google's BLEURT checkpoints: a tiny one that TensorFlow wrote, converted without TensorFlow, and a forward pass in
NumPy.

tests/metrics/bleurt_tf holds made-up numbers in the layout and under the names of bleurt-tiny: with the names in order,
number k of tensor i is sin(i + k² / 7), and 1 more where the name ends in gamma. It was saved by
`tf.compat.v1.train.Saver` of TensorFlow 2.21.
"""

from __future__ import annotations

import json
import shutil
from math import erf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from papers.tools.bleurt_checkpoint import main, tensors

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

FOLDER = Path(__file__).with_name("bleurt_tf")
INDEX = FOLDER / "variables" / "variables.index"
VOCABULARY = (FOLDER / "vocab.txt").read_text("utf-8").split()
HEADS = 2


def test_tensors_are_what_tensorflow_wrote() -> None:
    found = tensors(INDEX)
    step = found.pop("global_step")
    assert step == 7
    assert len(found) == 5 + 2 * 16 + 4
    assert found["bert/encoder/layer_1/intermediate/dense/kernel"].shape == (8, 12)
    for i, (name, table) in enumerate(sorted(found.items())):
        wanted = np.sin(i + np.arange(table.size, dtype=np.float64) ** 2 / 7) + name.endswith("gamma")
        assert np.array_equal(table.ravel(), wanted.astype(np.float32))


def forward(reference: str, output: str) -> float:
    """BERT, pooled, and its regression, by the names and shapes of the checkpoint."""
    w = {k: v.astype(np.float64) for k, v in tensors(INDEX).items()}
    one, two = ([VOCABULARY.index(t) for t in text.split()] for text in (reference, output))
    ids = [2, *one, 3, *two, 3]
    kinds = [0] * (len(one) + 2) + [1] * (len(two) + 1)

    def dense(x: Any, name: str) -> Any:
        return x @ w[f"{name}/kernel"] + w[f"{name}/bias"]

    def norm(x: Any, name: str) -> Any:
        z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return z * w[f"{name}/LayerNorm/gamma"] + w[f"{name}/LayerNorm/beta"]

    e = "bert/embeddings"
    x = w[f"{e}/word_embeddings"][ids] + w[f"{e}/token_type_embeddings"][kinds]
    x = norm(x + w[f"{e}/position_embeddings"][: len(ids)], e)
    for layer in range(2):
        at = f"bert/encoder/layer_{layer}"
        q, k, v = (dense(x, f"{at}/attention/self/{n}") for n in ("query", "key", "value"))
        parts = []
        for h in np.split(np.arange(8), HEADS):
            scores = q[:, h] @ k[:, h].T / np.sqrt(len(h))
            share = np.exp(scores - scores.max(-1, keepdims=True))
            parts.append(share / share.sum(-1, keepdims=True) @ v[:, h])
        x = norm(x + dense(np.concatenate(parts, -1), f"{at}/attention/output/dense"), f"{at}/attention/output")
        inner = dense(x, f"{at}/intermediate/dense")
        inner = inner * (1 + np.vectorize(erf)(inner / np.sqrt(2))) / 2
        x = norm(x + dense(inner, f"{at}/output/dense"), f"{at}/output")
    return float(dense(np.tanh(dense(x[0], "bert/pooler/dense")), "dense")[0])


def scored(folder: Path, batch: Batch) -> Any:
    metric: Any = metric_from_spec(f"bleurt(model={str(folder)!r}, references='mean')")
    metric.ready()
    return metric.score(batch)


def test_a_converted_checkpoint_scores_as_its_formula_says(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    batch = Batch.from_columns(
        ["The dog ran .", "a cat sat on the green mat"], references=[["a dog sat"], ["the cats sat"]]
    )
    assert main([str(FOLDER), "-o", str(tmp_path / "converted")]) == 0
    found = scored(tmp_path / "converted", batch).values
    hand = [forward("a dog sat", "the dog ran ."), forward("the cat ##s sat", "a cat sat on the green mat")]
    assert found == pytest.approx(hand, abs=1e-5)
    assert hand[0] != pytest.approx(hand[1], abs=1e-3)


def test_a_checkpoint_that_is_not_converted_names_the_script() -> None:
    with pytest.raises(NlgaugeError, match=r"TensorFlow checkpoint.*papers/tools/bleurt_checkpoint\.py"):
        scored(FOLDER, Batch.from_columns(["a cat"], references=[["a dog"]]))


def _sentencepiece(folder: Path) -> None:
    facts = json.loads((folder / "bleurt_config.json").read_text("utf-8"))
    (folder / "bleurt_config.json").write_text(json.dumps(facts | {"sp_model": "sent_piece"}), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_sentencepiece, "is a BLEURT-20"),
        (lambda f: (f / "vocab.txt").unlink(), "vocab.txt is missing"),
        (lambda f: (f / "bleurt_config.json").write_text("{"), "not converted: Expecting property name"),
        (lambda f: (f / "variables" / "variables.index").write_bytes(b"x" * 99), "not the index of a TensorFlow"),
        (lambda f: (f / "variables" / "variables.data-00000-of-00001").write_bytes(b"x"), "the file is damaged"),
        (lambda f: (f / "variables" / "variables.data-00000-of-00001").unlink(), "no such file"),
    ],
)
def test_what_cannot_be_converted_is_one_clear_line(
    harm: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    copied = Path(shutil.copytree(FOLDER, tmp_path / "bleurt"))
    harm(copied)
    assert main([str(copied), "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
