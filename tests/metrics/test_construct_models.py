"""Paraphraser and infiller by name: tiny BART and T5 against generate() called by hand, and one line without weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.construct import Recipe, examples, itself, masked_phrases
from nlgauge.metrics.alignment.construct_models import CausalInfill, ModelInfill, ModelParaphrase

TEXT = "the cat sat on the mat near the green river ."
DOCUMENTS = [[TEXT, "a dog ran in the park this morning ."]] * 4


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_models.build("bart", tmp_path_factory.mktemp("bart"), length=256)


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_models.build("t5", tmp_path_factory.mktemp("t5"), length=256)


def by_hand(folder: str, text: str, seed: int, count: int) -> list[str]:
    """Nucleus sampling of the library itself, after seeding its stream with the first number of ours."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(int(np.random.default_rng(seed).integers(2**31)))
        out = model.generate(
            torch.tensor([tokenizer.encode(text)]),
            do_sample=True,
            top_p=0.95,
            num_return_sequences=count,
            max_new_tokens=128,
        )
    return [tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in out]


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_a_paraphraser_gives_the_ten_texts_of_generate(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    found = ModelParaphrase(folder)(TEXT, np.random.default_rng(3))
    wanted = [said for said in by_hand(folder, f"paraphrase: {TEXT}", 3, 10) if said]
    assert found == wanted
    assert len(set(found)) > 1


def test_an_infiller_fills_masks_as_generate_does_and_labels_what_came_in(bart: str) -> None:
    words = TEXT.split()
    new, labels = ModelInfill(bart)(words, [(1, 3), (8, 10)], [TEXT], np.random.default_rng(5))
    wanted = by_hand(bart, "the [MASK] on the mat near the [MASK] .", 5, 1)[0].split()
    assert new == wanted
    assert len(labels) == len(new)
    kept = [w for w, label in zip(new, labels, strict=True) if label]
    rest = iter("the on the mat near the .".split())
    assert all(word in rest for word in kept)  # words that stayed stand around the masks, in that order


def test_a_language_model_fills_a_mask_with_what_may_follow(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_models.build("llama", tmp_path, length=256)
    words = TEXT.split()
    new, labels = CausalInfill(folder)(words, [(3, 6)], [TEXT], np.random.default_rng(4))
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(int(np.random.default_rng(4).integers(2**31)))
        start = torch.tensor([tiny_models.ids("the cat sat")])
        out = model.generate(start, do_sample=True, top_p=0.95, max_new_tokens=11)
    wanted = tokenizer.decode(out[0, 3:], skip_special_tokens=True).split()[:3]
    assert len(wanted) == 3
    assert new == [*words[:3], *wanted, *words[6:]]
    assert labels == [1] * 3 + [int(a == b) for a, b in zip(wanted, words[3:6], strict=True)] + [1] * (len(words) - 6)


def test_sampling_follows_the_given_numbers_and_leaves_the_global_stream_alone(bart: str) -> None:
    import torch

    model = ModelParaphrase(bart)
    before = torch.random.get_rng_state()
    first, again, other = (model(TEXT, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert torch.equal(before, torch.random.get_rng_state())


def test_examples_are_made_with_both_models(bart: str, t5: str) -> None:
    parts = Recipe(itself, ModelParaphrase(t5), masked_phrases, ModelInfill(bart))
    made = list(examples(DOCUMENTS, "style", 0, 8, parts))
    assert len(made) == 8
    assert all(len(e.a.split()) == len(e.labels) for e in made)
    assert parts.names()[1] == f"ModelParaphrase({t5})"


def test_a_model_without_a_mask_cannot_infill(t5: str, tmp_path: Path) -> None:
    import shutil

    from transformers import AutoTokenizer

    folder = shutil.copytree(t5, tmp_path / "bare")
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)
    with pytest.raises(NlgaugeError, match="its tokenizer has no mask"):
        ModelInfill(str(folder))(TEXT.split(), [(1, 3)], [TEXT], np.random.default_rng(0))


@pytest.mark.parametrize(("part", "option"), [(ModelParaphrase, "paraphraser"), (ModelInfill, "infiller")])
def test_missing_weights_are_one_clear_line(
    part: Any, option: str, tmp_path: Path, monkeypatch: Any, bart: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def run(name: str) -> Any:
        model = part(name)
        rest = ([(1, 3)], [TEXT]) if option == "infiller" else ()
        return model(TEXT.split() if rest else TEXT, *rest, np.random.default_rng(0))

    with pytest.raises(
        NlgaugeError,
        match=rf"^{option}='no/such': not in this machine's cache and the hub was not reached.*; give a folder, "
        r"or omit the option",
    ):
        run("no/such")
    with pytest.raises(
        NlgaugeError, match=rf"^{option}='.*': the folder holds no Seq2SeqLM model that transformers can load"
    ):
        run(str(tmp_path))
    for path in Path(bart).iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(NlgaugeError, match=rf"^{option}='.*': no weights as model.safetensors there"):
        run(str(tmp_path))
