"""Google's BLEURT checkpoints: a tiny one that TensorFlow wrote, read without TensorFlow, beside a forward pass in
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

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models.tensorflow_checkpoint import tensors

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


def test_a_checkpoint_of_google_scores_as_its_formula_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path))
    batch = Batch.from_columns(
        ["The dog ran .", "a cat sat on the green mat"], references=[["a dog sat"], ["the cats sat"]]
    )
    found = scored(FOLDER, batch).values
    hand = [forward("a dog sat", "the dog ran ."), forward("the cat ##s sat", "a cat sat on the green mat")]
    assert found == pytest.approx(hand, abs=1e-5)
    assert hand[0] != pytest.approx(hand[1], abs=1e-3)
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("bleurt-bleurt_tf-")
    before = (made / "model.safetensors").stat().st_mtime_ns
    assert scored(FOLDER, batch).values == pytest.approx(hand, abs=1e-5)
    assert (made / "model.safetensors").stat().st_mtime_ns == before


def test_other_weights_have_another_signature(tmp_path: Path) -> None:
    copied = Path(shutil.copytree(FOLDER, tmp_path / "bleurt_tf"))
    one, other = (metric_from_spec(f"bleurt(model={str(f)!r})") for f in (FOLDER, copied))
    assert one.signature == other.signature  # type: ignore[attr-defined]
    data = copied / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(b"\1" + data.read_bytes()[1:])
    assert one.signature != other.signature  # type: ignore[attr-defined]


def _sentencepiece(folder: Path) -> None:
    facts = json.loads((folder / "bleurt_config.json").read_text("utf-8"))
    (folder / "bleurt_config.json").write_text(json.dumps(facts | {"sp_model": "sent_piece"}), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_sentencepiece, "is a BLEURT-20"),
        (lambda f: (f / "vocab.txt").unlink(), r"vocab\.txt is missing"),
        (lambda f: (f / "bleurt_config.json").write_text("{"), "bleurt_config.json"),
        (lambda f: (f / "variables" / "variables.index").write_bytes(b"x" * 99), "no index of a TensorFlow checkpoint"),
        (lambda f: (f / "variables" / "variables.data-00000-of-00001").write_bytes(b"x"), "the file is damaged"),
        (lambda f: (f / "variables" / "variables.data-00000-of-00001").unlink(), "no such file"),
    ],
)
def test_what_cannot_be_converted_is_one_clear_line(
    harm: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "models"))
    copied = Path(shutil.copytree(FOLDER, tmp_path / "bleurt"))
    (copied / "saved_model.pb").write_text("")
    harm(copied)
    with pytest.raises(NlgaugeError, match=said) as error:
        scored(copied, Batch.from_columns(["a cat"], references=[["a dog"]]))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "models").exists()
