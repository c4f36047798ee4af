"""SummaC beside tingofurro's package summac on the same inference model: zero-shot and convolution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import OTHER, SOURCE, SUMMARIES, agree, batch, bert, installed, ours, program, tokenizers_as_they_were

LABELS = {0: "entailment", 1: "contradiction", 2: "neutral"}  # as the package has it for its model 'vitc'
# Parts of ten letters or fewer are no sentence there; the last summary is such a one.
OUTPUTS, SOURCES = [*SUMMARIES[:3], SUMMARIES[0]], [SOURCE, SOURCE, OTHER, OTHER]


@pytest.fixture
def summac(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Any, str]:
    installed("summac")
    import nltk

    from nlgauge.text.sentences import sentences

    folder = bert("SequenceClassification", tmp_path / "nli", num_labels=3, id2label=LABELS)
    found = program("summac.model_summac")
    monkeypatch.setitem(found.model_map, "vitc", {**found.model_map["vitc"], "model_card": folder})
    # nltk's sentence splitter is a file that no package carries.
    monkeypatch.setattr(nltk.tokenize, "sent_tokenize", sentences)
    tokenizers_as_they_were(monkeypatch)
    return found, folder


@pytest.mark.parametrize("over", ["mean", "min"])
@pytest.mark.parametrize("minus", [True, False])
def test_summac_zs_equals_the_package(summac: tuple[Any, str], minus: bool, over: str) -> None:
    package, folder = summac
    theirs = package.SummaCZS(
        model_name="vitc", granularity="sentence", op2=over, use_con=minus, imager_load_cache=False, device="cpu"
    ).score(SOURCES, OUTPUTS)["scores"]
    found = ours(f"entailment(minus={minus}, over={over!r}, model={folder!r})", batch(OUTPUTS, SOURCES))
    agree(f"entailment, minus={minus}, {over}", found, theirs, 1e-6)
    assert len({round(v, 3) for v in found}) > 2


@pytest.mark.parametrize("bins", ["percentile", "even50"])
def test_summac_conv_equals_the_package(summac: tuple[Any, str], bins: str, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    package, folder = summac
    with torch.random.fork_rng():
        torch.manual_seed(5)
        made = package.SummaCConv(
            models=["vitc"], bins=bins, granularity="sentence", nli_labels="e", device="cpu", imager_load_cache=False
        )
    with torch.no_grad():
        made.layer_final.weight *= 5
        made.mlp.weight *= 5
    head = tmp_path / "head.safetensors"
    save_file(made.state_dict(), head)
    long = " ".join([SOURCE, OTHER])  # more sentences than the ten that are looked at
    outputs, sources = [*OUTPUTS, long], [*SOURCES, SOURCE]
    theirs = made.score(sources, outputs)["scores"]
    found = ours(f"summac-conv(head={str(head)!r}, model={folder!r})", batch(outputs, sources))
    agree(f"summac-conv, {bins}", found, theirs, 1e-5)
    assert len({round(v, 3) for v in found}) > 3


def test_the_package_leaves_out_parts_of_ten_letters_or_fewer(summac: tuple[Any, str]) -> None:
    package, folder = summac
    output = "The bridge of the town closed. It rains."
    zs = package.SummaCZS(model_name="vitc", granularity="sentence", imager_load_cache=False, device="cpu")
    theirs = float(zs.score([SOURCE], [output])["scores"][0])
    spec = f"entailment(minus=True, model={folder!r})"
    assert ours(spec, batch([output.partition(". ")[0] + "."], [SOURCE])) == pytest.approx([theirs], abs=1e-6)
    assert abs(ours(spec, batch([output], [SOURCE]))[0] - theirs) > 1e-3
