"""MoverScore beside its authors' package moverscore, both of its programs, on the same weights."""

from __future__ import annotations

import importlib
import sys
from collections import defaultdict
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from programs import OTHER, SOURCE, SUMMARIES, agree, batch, bert, installed, ours, stand_in

REFERENCES = [
    SOURCE.partition(". ")[0] + ".",
    OTHER.partition(". ")[0] + ".",
    SOURCE[200:380],
    "Rain, rain (and floods)!",
]


def scores(module: Any, idf: bool, **more: Any) -> list[float]:
    """What the program gives for all pairs at once, with its idf of references and of outputs or without."""
    weights = [module.get_idf_dict(texts) if idf else defaultdict(lambda: 1.0) for texts in (REFERENCES, SUMMARIES)]
    return [float(v) for v in module.word_mover_score(REFERENCES, SUMMARIES, *weights, device="cpu", **more)]


def on_this_machine(module: Any, patch: pytest.MonkeyPatch) -> Any:
    """The program asks for a GPU by name, and forks to count words."""
    patch.setattr(module, "device", "cpu")
    patch.setattr(module, "Pool", ThreadPool)
    return module


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Any, str]:
    """moverscore.py: loads its model when it is imported, from the folder that it would fetch it to."""
    installed("moverscore", "pyemd", "pytorch_pretrained_bert")
    import torch
    from safetensors.torch import load_file

    folder = bert("SequenceClassification", tmp_path / "model", num_labels=3, num_hidden_layers=7)
    torch.save(load_file(f"{folder}/model.safetensors"), f"{folder}/pytorch_model.bin")
    Path(folder, "MNLI_BERT.zip").touch()
    monkeypatch.setenv("MOVERSCORE", folder)
    # Amazon's client, for weights that lie there; not needed for a folder.
    stand_in(monkeypatch, "boto3")
    stand_in(monkeypatch, "botocore")
    stand_in(monkeypatch, "botocore.exceptions", ClientError=OSError)
    monkeypatch.delitem(sys.modules, "moverscore", raising=False)
    with monkeypatch.context() as no_gpu:
        no_gpu.setattr(torch.nn.Module, "to", lambda self, *_: self)
        found = importlib.import_module("moverscore")
    Path(folder, "pytorch_model.bin").unlink()
    return on_this_machine(found, monkeypatch), folder


@pytest.mark.parametrize(("idf", "n"), [(False, 1), (True, 1), (False, 2), (True, 2)])
def test_moverscore_equals_the_program_of_the_paper(first: tuple[Any, str], idf: bool, n: int) -> None:
    module, folder = first
    theirs = scores(module, idf, n_gram=n)
    found = ours(f"moverscore(preset='original', idf={idf}, n={n}, encoder={folder!r})", given())
    agree(f"moverscore, idf={idf}, n={n}", found, theirs, 2e-5)
    assert np.ptp(found) > 0.05


def given() -> Any:
    return batch(SUMMARIES, references=REFERENCES)


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Any, str]:
    """moverscore_v2.py: a DistilBERT by name, of a transformers of 2019."""
    installed("moverscore_v2", "pyemd")
    import torch
    import transformers as tf

    folder = bert("model", tmp_path / "second")
    with torch.random.fork_rng():
        torch.manual_seed(4)
        made = tf.DistilBertModel(
            tf.DistilBertConfig(
                vocab_size=made_for(folder), dim=24, n_layers=3, n_heads=2, hidden_dim=32, initializer_range=0.5
            )
        )
    made.save_pretrained(folder)
    tokenizer = tf.AutoTokenizer.from_pretrained(folder)
    tokenizer.max_len = tokenizer.model_max_length  # its name then

    def pretrained(_: str, config: Any) -> Any:
        """Tuples, as models gave them then: the last layer, all layers, attention."""
        found = tf.DistilBertModel.from_pretrained(folder, attn_implementation="eager")

        class Tuples:
            eval = to = lambda self, *_: self

            def __call__(self, **more: Any) -> tuple[Any, ...]:
                out = found.eval()(**more, output_hidden_states=True, output_attentions=True)
                return out.last_hidden_state, out.hidden_states, out.attentions

        return Tuples()

    # `from transformers import *` takes all there is, today also what needs packages that are not here.
    stand_in(
        monkeypatch,
        "transformers",
        __all__=["DistilBertConfig", "DistilBertTokenizer", "DistilBertModel"],
        DistilBertConfig=SimpleNamespace(from_pretrained=lambda *_, **__: None),
        DistilBertTokenizer=SimpleNamespace(from_pretrained=lambda *_, **__: tokenizer),
        DistilBertModel=SimpleNamespace(from_pretrained=pretrained),
    )
    monkeypatch.setattr(np, "float", float, raising=False)  # numpy's name of it until 1.23
    monkeypatch.delitem(sys.modules, "moverscore_v2", raising=False)
    found = importlib.import_module("moverscore_v2")
    monkeypatch.setitem(sys.modules, "transformers", tf)
    return on_this_machine(found, monkeypatch), folder


def made_for(folder: str) -> int:
    return len(Path(folder, "vocab.txt").read_text().split("\n")) - 1


@pytest.mark.parametrize("idf", [False, True])
def test_preset_v2_equals_the_second_program(second: tuple[Any, str], idf: bool) -> None:
    module, folder = second
    found = ours(f"moverscore(preset='v2', idf={idf}, encoder={folder!r})", given())
    agree(f"moverscore v2, idf={idf}", found, scores(module, idf), 2e-5)
    assert np.ptp(found) > 0.05


def test_stop_words_of_a_file_are_left_out_as_in_both_programs(
    first: tuple[Any, str], second: tuple[Any, str], tmp_path: Path
) -> None:
    """With idf, as the authors score summaries."""
    words = "the of a and it that to was"
    file = tmp_path / "stopwords.txt"
    file.write_text(words)
    for (module, folder), preset in ((first, "original"), (second, "v2")):
        theirs = scores(module, True, stop_words=words.split())
        found = ours(f"moverscore(preset={preset!r}, idf=True, stop={str(file)!r}, encoder={folder!r})", given())
        agree(f"moverscore {preset}, stop words", found, theirs, 2e-5)
        assert found != pytest.approx(scores(module, True), abs=1e-3)
