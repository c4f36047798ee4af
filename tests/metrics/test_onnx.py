"""ONNX files give what the torch model gives that they were exported from; quantized ones do not mix their rows."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import build

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models import onnx as onnx_models

OUTPUTS = ["The cat sat . The dog ran .", "the dog ran near Paris", "Anna lives in London ."]
SOURCES = ["Anna lives in Paris . The yellow flower is in the green garden near the house ."] * 3
BATCH = Batch.from_columns(OUTPUTS, SOURCES)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's newer exporter wants another package
NLI = {"id2label": {0: "contradiction", 1: "neutral", 2: "entailment"}}


def exported(kind: str, tmp_path: Path, outputs: list[str], width: int = 0, **more: Any) -> tuple[str, str]:
    """A tiny model, and a folder with the same as model.onnx; `width`: for that many tokens only."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="extra 'onnx' is not installed")
    import torch
    import transformers

    plain = build(kind, tmp_path / "plain", **more)
    auto = {"classifier": "AutoModelForSequenceClassification", "qa": "AutoModelForQuestionAnswering"}[kind]
    model = getattr(transformers, auto).from_pretrained(plain, attn_implementation="eager").eval()
    folder = tmp_path / "onnx"
    shutil.copytree(plain, folder)
    (folder / "model.safetensors").unlink()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    given = torch.ones((1, width or 9), dtype=torch.long)
    axes = {} if width else {name: {0: "rows", 1: "tokens"} for name in names}

    class Named(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model.requires_grad_(False)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            out = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
            return tuple(out[name] for name in outputs)

    torch.onnx.export(
        Named(),
        (given,) * 3,
        str(folder / "model.onnx"),
        input_names=names,
        output_names=outputs,
        dynamic_axes=axes,
        dynamo=False,
    )
    return plain, str(folder)


def values(spec: str, batch: Batch = BATCH) -> np.ndarray:
    metric = metric_from_spec(spec)
    metric.ready()
    return metric.score(batch).values


@pytest.mark.parametrize("split", ["both", "none"])
def test_entailment_by_onnx_equals_torch(split: str, tmp_path: Path) -> None:
    plain, onnx = exported("classifier", tmp_path, ["logits"], **NLI)
    ours, theirs = (values(f"entailment(split='{split}', minus=True, model={m!r})") for m in (onnx, plain))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    file = values(f"entailment(split='{split}', minus=True, model={onnx + '/model.onnx'!r})")
    np.testing.assert_array_equal(file, ours)


def test_answers_by_onnx_equal_torch(tmp_path: Path) -> None:
    plain, onnx = exported("qa", tmp_path, ["start_logits", "end_logits"])
    ours, theirs = (values(f"summaqa(entities='capitals', qa={m!r})") for m in (onnx, plain))
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_file_for_one_length_takes_shorter_pairs_padded_and_cuts_longer_ones(tmp_path: Path) -> None:
    plain, onnx = exported("classifier", tmp_path, ["logits"], width=24, **NLI)
    short = Batch.from_columns(["the cat sat"], ["the dog ran near the mat ."])
    ours, theirs = (values(f"entailment(split='none', model={m!r})", short) for m in (onnx, plain))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    long = Batch.from_columns(["the cat sat"], ["the dog ran near the mat ." * 1 + " the dog ran" * 12])
    assert metric_from_spec(f"entailment(split='none', model={onnx!r})").score(long).notes


def test_rows_of_a_quantized_file_do_not_change_each_other(tmp_path: Path) -> None:
    _, folder = exported("classifier", tmp_path, ["logits"], **NLI)
    quantization = pytest.importorskip("onnxruntime.quantization")
    quantization.quantize_dynamic(f"{folder}/model.onnx", f"{folder}/small.onnx")
    spec = f"entailment(model={folder + '/small.onnx'!r})"
    together = values(spec)
    alone = [values(spec, Batch.from_columns([o], [s]))[0] for o, s in zip(OUTPUTS, SOURCES, strict=True)]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(together, values(f"entailment(model={folder!r})"), atol=0.1)


def test_two_files_of_one_folder_are_two_models(tmp_path: Path) -> None:
    from nlgauge.models.loading import fingerprint

    for name, content in (("model.onnx", b"one"), ("small.onnx", b"two")):
        (tmp_path / name).write_bytes(content)
    assert fingerprint(str(tmp_path / "model.onnx")) != fingerprint(str(tmp_path / "small.onnx"))


def test_without_onnxruntime_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
    (tmp_path / "model.onnx").write_bytes(b"")
    find = onnx_models.importlib.util.find_spec
    monkeypatch.setattr(
        onnx_models.importlib.util, "find_spec", lambda name, *a: None if name == "onnxruntime" else find(name, *a)
    )
    with pytest.raises(NeedsMissing, match=r'pip install "nlgauge\[onnx\]"'):
        metric_from_spec(f"entailment(model={str(tmp_path)!r})").ready()


def test_a_file_that_is_no_onnx_is_one_clear_line(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="extra 'onnx' is not installed")
    folder = Path(build("classifier", tmp_path, **NLI))
    (folder / "model.safetensors").unlink()
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(NlgaugeError, match="onnxruntime cannot read it") as caught:
        values(f"entailment(model={str(folder)!r})")
    assert "\n" not in str(caught.value) and "torch" in sys.modules
