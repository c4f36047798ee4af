"""Models whose tokenizer is a SentencePiece file and nothing else, trained here on a few sentences."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import build

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models.loading import load_fresh

TEXTS = ["the cat sat on the mat .", "a dog ran near the park", "tea is not in London", "where does Anna live ?"]


def trained(folder: Path, name: str, **more: Any) -> Path:
    spm = pytest.importorskip("sentencepiece", reason="extra 'neural' is not installed (sentencepiece)")
    pytest.importorskip("google.protobuf", reason="extra 'neural' is not installed (protobuf)")
    (folder / "text").write_text("\n".join(TEXTS * 3))
    spm.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "made"),
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
        **more,
    )
    (folder / "made.model").rename(folder / name)
    for beside in ("text", "made.vocab"):
        (folder / beside).unlink()
    for file in folder.glob("*token*.json"):
        file.unlink()
    return folder / name


def test_a_t5_with_a_sentencepiece_file_only_loads_and_scores(tmp_path: Path) -> None:
    folder = Path(build("t5", tmp_path))
    file = trained(folder, "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    tokenizer, _ = load_fresh("seq2seq", str(folder))
    import sentencepiece as spm

    own = spm.SentencePieceProcessor(model_file=str(file))
    for text in (*TEXTS, "the park is not near", "Zürich"):
        assert tokenizer(text)["input_ids"] == [*own.encode(text), 1]
    metric = metric_from_spec(f"bartscore(model={str(folder)!r})")
    found = metric.score(Batch.from_columns(TEXTS[:2], source=TEXTS[2:])).values
    assert np.isfinite(found).all()
    assert found[0] != found[1]


def test_an_albert_with_a_sentencepiece_file_only_loads(tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    config = transformers.AlbertConfig(
        vocab_size=80,
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=64,
        num_labels=3,
    )
    transformers.AlbertForSequenceClassification(config).save_pretrained(tmp_path)
    marks = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "user_defined_symbols": "[CLS],[SEP],[MASK]"}
    trained(tmp_path, "spiece.model", **marks)
    tokenizer, model = load_fresh("classifier", str(tmp_path))
    ids = tokenizer("the cat", "a dog", return_tensors="pt")
    assert tokenizer.convert_ids_to_tokens(ids["input_ids"][0])[0] == "[CLS]"
    assert tuple(model(**ids).logits.shape) == (1, 3)


@pytest.mark.parametrize("absent", [["sentencepiece"], ["google"], ["sentencepiece", "google"]])
def test_what_is_missing_is_said_with_the_pip_line(
    absent: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(build("t5", tmp_path))
    for file in folder.glob("*token*.json"):
        file.unlink()
    (folder / "spiece.model").write_bytes(b"\x0a\x00")
    real = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> Any:
        return None if name.partition(".")[0] in absent else real(name, package)

    def refused(*_: Any, **__: Any) -> Any:
        raise ValueError("`tiktoken` is required to read a `tiktoken` file.")  # what transformers says then

    monkeypatch.setattr(importlib.util, "find_spec", found)
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", refused)
    with pytest.raises(
        NlgaugeError, match=r"SentencePiece file, which needs .*pip install \"nlgauge\[neural\]\""
    ) as said:
        load_fresh("seq2seq", str(folder))
    for name in absent:
        assert {"google": "protobuf"}.get(name, name) in str(said.value)
