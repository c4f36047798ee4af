"""Metrics on causal language models: tiny random models beside a plain loop over single texts, and the real trigram."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import CLS, build, ids

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

OUTPUTS = ["the cat sat on the mat .", "a dog ran", "tea", "", "the dog sat near the park , it was green ."]
SOURCES = ["Anna lives in Paris . the cat is yellow ."] * 3 + ["the park"] * 2
REFERENCES = [["the cat is on a mat .", "a cat sat"], ["the dog ran"], ["tea ."], ["a"], ["", "the dog sat"]]
BATCH = Batch.from_columns(OUTPUTS, SOURCES, ["a fact"] * 5, REFERENCES)
ABLE = [0, 1, 2, 4]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def lm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(request.param, tmp_path_factory.mktemp(request.param))


@cache
def oracle(folder: str) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder).eval()


def logs(folder: str, before: list[int], target: list[int]) -> Any:
    """log p of each target token, by one forward pass over one text."""
    import torch

    row = torch.tensor([[*before, *target]])
    with torch.inference_mode():
        said = torch.log_softmax(oracle(folder)(row).logits[0], dim=-1)
    return np.array([float(said[len(before) + k - 1, t]) for k, t in enumerate(target)])


def scores(spec: str, batch: Batch = BATCH) -> Any:
    metric: Any = metric_from_spec(spec)
    metric.ready()
    return metric.score(batch)


def test_perplexity_is_exp_of_the_mean_surprise(lm: str) -> None:
    found = scores(f"perplexity(lm={lm!r})")
    for i in ABLE:
        assert found.values[i] == pytest.approx(math.exp(-logs(lm, [CLS], ids(OUTPUTS[i])).mean()), rel=1e-4)
    assert found.reasons == {3: "empty output"}


def test_without_a_start_mark_perplexity_begins_at_the_second_token(lm: str) -> None:
    found = scores(f"perplexity(lm={lm!r}, start=False)")
    first, *rest = ids(OUTPUTS[0])
    assert found.values[0] == pytest.approx(math.exp(-logs(lm, [first], rest).mean()), rel=1e-4)
    assert found.reasons[2] == "no token to score"


@pytest.mark.parametrize("direction", ["s-h", "r-h", "h-r", "h"])
@pytest.mark.parametrize("pmi", [False, True])
def test_the_likelihood_of_one_text_after_another(lm: str, direction: str, pmi: bool) -> None:
    if direction == "h" and pmi:
        pytest.skip("one text only")
    found = scores(f"lm-score(direction={direction!r}, pmi={pmi}, lm={lm!r})")
    for i in ABLE:
        output, refs = OUTPUTS[i], [r for r in REFERENCES[i] if r]
        pairs = {
            "s-h": [(SOURCES[i], output)],
            "r-h": [(r, output) for r in refs],
            "h-r": [(output, r) for r in refs],
            "h": [("", output)],
        }[direction]
        each = []
        for before, target in pairs:
            value = logs(lm, [CLS, *ids(before)], ids(target)).mean()
            each.append(value - (logs(lm, [CLS], ids(target)).mean() if pmi else 0.0))
        assert found.values[i] == pytest.approx(float(np.mean(each)), abs=1e-4)


def test_of_several_references_the_best_and_sums_for_means(lm: str) -> None:
    found = scores(f"lm-score(direction='r-h', references='max', per='text', lm={lm!r})")
    each = [logs(lm, [CLS, *ids(r)], ids(OUTPUTS[0])).sum() for r in REFERENCES[0]]
    assert found.values[0] == pytest.approx(max(each), abs=1e-4)
    assert found.notes[4] == "1 empty references left out"


def test_a_score_has_no_batch_mates_and_shared_beginnings_change_nothing(lm: str, monkeypatch: Any) -> None:
    from nlgauge.models import causal as _likelihood

    source = " ".join(["the cat sat on the mat near the green river ."] * 4)
    asked = [(source, t) for t in OUTPUTS if t] + [
        (source + " a dog ran near the river", t) for t in ("tea", "the park")
    ]
    model = _likelihood.Likelihood(lm)
    monkeypatch.setattr(_likelihood, "SHARE", 4)
    passes = []
    read = model._read
    monkeypatch.setattr(model, "_read", lambda *given: passes.append(len(given[0])) or read(*given))
    assert model.packs  # what is shared is not repeated: continuations stand in one row, blind to each other
    passes.clear()
    together = model.told(asked)
    assert len(passes) == 2  # the source once, and once more with the turn that two of them share
    for q, told in zip(asked, together, strict=True):
        assert np.allclose(told.logs, logs(lm, [CLS, *ids(q[0])], ids(q[1])), atol=1e-4)
        assert np.allclose(told.logs, model.told([q])[0].logs, atol=1e-5)
    monkeypatch.setattr(model, "packs", False, raising=False)  # a model that cannot: one row for each
    for told, repeated in zip(together, model.told(asked), strict=True):
        assert np.allclose(told.logs, repeated.logs, atol=1e-5)


def test_a_text_longer_than_the_model_is_read_in_windows_and_noted(tmp_path: Path) -> None:
    folder = build("gpt2", tmp_path, length=8)
    words = ("the cat sat on a mat near it . " * 2).split()
    found = scores(f"perplexity(lm={folder!r})", Batch.from_columns([" ".join(words)]))
    row, total, end = [CLS, *ids(" ".join(words))], 0.0, 1
    while end < len(row):  # the model takes 8 tokens: 7 new ones, then 4 with the 4 before them, and so on
        new = min(8 if end == 1 else end + 4, len(row))
        total += logs(folder, row[max(0, new - 8) : end], row[end:new]).sum()
        end = new
    assert found.values[0] == pytest.approx(math.exp(-total / len(words)), rel=1e-4)
    assert found.notes == {0: "longer than the language model takes: read in windows"}


def test_the_trigram_gives_the_probabilities_of_pocketsphinx() -> None:
    pytest.importorskip("pocketsphinx")
    from pocketsphinx import NGramModel, get_model_path

    model = NGramModel.readfile(str(Path(get_model_path()) / "en-us" / "en-us.lm.bin"))
    asked = [["the", "<s>"], ["end", "the", "<s>"], ["of", "end", "the"], ["war", "of", "end"], ["</s>", "war", "of"]]
    each = [model.prob(words) * math.log(1.0001) for words in asked]
    found = scores("perplexity(lm='trigram')", Batch.from_columns(["The end of war!", "zzqx", "of the war end"]))
    assert found.values[0] == pytest.approx(math.exp(-np.mean(each)), rel=1e-9)
    assert found.values[2] > found.values[0]
    end = max(math.log(1e-6), model.prob(["</s>", "zzqx", "<s>"]) * math.log(1.0001))
    assert found.values[1] == pytest.approx(math.exp(-(math.log(1e-6) + end) / 2), rel=1e-9)
    assert found.notes == {1: "contains words unknown to the trigram model"}


def test_follow_ups_are_praise_minus_blame(lm: str) -> None:
    from nlgauge.metrics.learned.fed import turns

    found = scores(f"follow-up(lm={lm!r})")
    said = turns("ours")["interesting"]
    before = [CLS, *ids(SOURCES[0]), *ids(OUTPUTS[0])]
    means = {k: np.mean([logs(lm, before, ids(t)).mean() for t in said[k]]) for k in said}
    assert found.values[0] == pytest.approx(means["positive"] - means["negative"], abs=1e-4)


def test_fed_is_the_difference_of_mean_losses_over_the_whole_dialogue(lm: str) -> None:
    from nlgauge.metrics.learned.fed import turns

    history = "the cat sat\na dog ran"
    batch = Batch.from_columns(["it is tea"], [history])
    found = scores(f"fed(aspect='informative', lm={lm!r})", batch)
    said = turns("fed")["informative"]
    losses = {}
    for kind in said:
        rows = [
            ids(f"the cat sat <|endoftext|> a dog ran <|endoftext|> it is tea <|endoftext|> {t}") for t in said[kind]
        ]
        losses[kind] = -np.mean([logs(lm, [CLS], row).mean() for row in rows])
    assert found.values[0] == pytest.approx(losses["negative"] - losses["positive"], abs=1e-4)
    one_sided = scores(f"fed(aspect='relevant', over='turn', lm={lm!r})", batch).values[0]
    before = [CLS, *ids("the cat sat <|endoftext|> a dog ran <|endoftext|> it is tea <|endoftext|>")]
    blame = np.mean([logs(lm, before, ids(t)).mean() for t in turns("fed")["relevant"]["negative"]])
    assert one_sided == pytest.approx(-blame, abs=1e-4)


def test_contrast_is_the_log_of_the_difference_of_probabilities(lm: str, tmp_path: Path) -> None:
    weak = build("gpt2", tmp_path, seed=1)
    found = scores(f"lm-contrast(gamma=0.4, expert={lm!r}, amateur={weak!r})")
    before, target = [CLS, *ids(SOURCES[0])], ids(OUTPUTS[0])
    gap = np.abs(np.exp(logs(lm, before, target)) - 0.4 * np.exp(logs(weak, before, target)))
    assert found.values[0] == pytest.approx(float(np.log(gap).mean()), abs=1e-3)


def test_contrast_of_models_with_different_tokens_is_one_clear_line(lm: str, tmp_path: Path, monkeypatch: Any) -> None:
    from nlgauge.models.causal import likelihood

    other = build("gpt2", tmp_path, seed=1)
    monkeypatch.setattr(likelihood(other), "plain_ids", lambda text: [1])
    with pytest.raises(NlgaugeError, match="different tokenizers"):
        scores(f"lm-contrast(expert={lm!r}, amateur={other!r})")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("lm-score(direction='h-s')", "direction must be s-h, r-h, h-r or h"),
        ("lm-score(direction='h', pmi=True)", "has one only"),
        ("lm-score(per='word')", "per must be token or text"),
        ("fed(aspect='interestin')", "Did you mean 'interesting'"),
        ("follow-up(aspect='fluent')", "aspect must be interesting or informative"),
        ("lm-contrast(gamma=2)", "between 0 and 1"),
        ("perplexity(lm='./nowhere')", "lm='./nowhere': no such folder"),
        ("perplexity(lm='')", "name a model"),
    ],
)
def test_wrong_options_are_one_clear_line(spec: str, said: str) -> None:
    with pytest.raises(NlgaugeError, match=said):
        scores(spec)


def test_a_model_that_is_not_to_be_had_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match="holds no CausalLM model") as error:
        scores(f"perplexity(lm={str(tmp_path)!r})")
    assert "\n" not in str(error.value)
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(NlgaugeError, match=r"no weights as model\.safetensors"):
        scores(f"perplexity(lm={str(tmp_path)!r})")
    with pytest.raises(NlgaugeError, match="the hub was not reached or does not have it"):
        scores("perplexity(lm='nobody/no-such-model-here')")


def test_without_the_package_of_the_default_model_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: Any) -> None:
    from nlgauge.models import loading as _models

    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path))
    monkeypatch.setattr(_models.importlib.util, "find_spec", lambda name: None if name == "gguf" else object())
    with pytest.raises(NeedsMissing, match="gguf is not installed"):
        metric_from_spec("perplexity").ready()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_default_model_prefers_english_to_the_same_words_shuffled() -> None:
    from nlgauge.models.loading import check_ready

    try:
        check_ready("perplexity", lm="smollm2")
    except NeedsMissing as missing:
        pytest.skip(str(missing))
    texts = ["The hotel is near the park and serves breakfast.", "near breakfast park The hotel the is serves and."]
    good, bad = scores("perplexity", Batch.from_columns(texts)).values
    assert good < 100 < bad
