"""Metrics with classifiers, masked models and question answering by name: tiny random models beside plain single
passes.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tiny_models import CLS, IDS, SEP, build, ids

from nlgauge import registry
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

OUTPUTS = ["The cat sat . The dog ran .", "the dog ran near Paris", ""]
SOURCES = ["Anna lives in Paris . the yellow flower is in the green garden near the house ."] * 3
CONTEXTS = ["the river is green"] * 3
REFERENCES = [["the cat is on a mat .", "a cat sat"], ["the dog ran"], ["a"]]
BATCH = Batch.from_columns(OUTPUTS, SOURCES, CONTEXTS, REFERENCES)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    nli = {"id2label": {0: "contradiction", 1: "neutral", 2: "entailment"},
           "label2id": {"contradiction": 0, "neutral": 1, "entailment": 2}}  # fmt: skip
    ner = {"id2label": {0: "O", 1: "B-LOC", 2: "I-LOC"}, "label2id": {"O": 0, "B-LOC": 1, "I-LOC": 2}}
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "masked": ("masked", {}), "nli": ("classifier", nli), "two": ("classifier", {"num_labels": 2}),
        "regression": ("classifier", {"num_labels": 1}), "qa": ("qa", {}), "ner": ("tokens", {**ner, "seed": 6}),
        "qg": ("t5", {}),
    }  # fmt: skip
    return {name: build(kind, tmp_path_factory.mktemp(name), **more) for name, (kind, more) in kinds.items()}


@cache
def oracle(folder: str, auto: str) -> Any:
    import transformers

    return getattr(transformers, auto).from_pretrained(folder).eval()


def pair(a: str, b: str) -> dict[str, Any]:
    import torch

    first, second = [CLS, *ids(a), SEP], [*ids(b), SEP]
    return {
        "input_ids": torch.tensor([[*first, *second]]),
        "token_type_ids": torch.tensor([[0] * len(first) + [1] * len(second)]),
    }


def classified(folder: str, a: str, b: str) -> Any:
    import torch

    with torch.inference_mode():
        return oracle(folder, "AutoModelForSequenceClassification")(**pair(a, b)).logits[0]


def scores(spec: str, batch: Batch = BATCH) -> Any:
    metric: Any = metric_from_spec(spec)
    metric.ready()
    return metric.score(batch)


def test_bleurt_is_the_regression_of_reference_and_output(tiny: dict[str, str]) -> None:
    found = scores(f"bleurt(model={tiny['regression']!r})")
    each = [float(classified(tiny["regression"], r, OUTPUTS[0])[0]) for r in REFERENCES[0]]
    assert found.values[0] == pytest.approx(max(each), abs=1e-5)
    assert found.reasons == {2: "empty output"}
    with pytest.raises(NlgaugeError, match="has 3 labels; a BLEURT has one"):
        scores(f"bleurt(model={tiny['nli']!r})")


def test_comet_asks_its_package_for_each_reference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The package is not installed here: a stand-in with its two functions shows what it is asked."""
    path = tmp_path / "model.ckpt"
    path.write_text("")
    asked: list[dict[str, str]] = []

    class Model:
        def predict(self, rows: list[dict[str, str]], **_: Any) -> dict[str, list[float]]:
            asked.extend(rows)
            return {"scores": [float(len(r["ref"])) for r in rows]}

    comet = ModuleType("comet")
    comet.load_from_checkpoint = lambda given: Model()  # type: ignore[attr-defined]
    comet.__spec__ = object()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "comet", comet)
    found = scores(f"comet(model={str(path)!r})")
    assert asked[0] == {"src": SOURCES[0], "mt": OUTPUTS[0], "ref": REFERENCES[0][0]}
    assert found.values[:2].tolist() == [len(REFERENCES[0][0]), len(REFERENCES[1][0])]


def test_without_its_package_comet_says_so() -> None:
    if "comet" in sys.modules or __import__("importlib.util").util.find_spec("comet"):
        pytest.skip("unbabel-comet is installed")
    with pytest.raises(NeedsMissing, match="pip install --no-deps unbabel-comet"):
        scores("comet")


def entailed(folder: str, premise: str, claim: str, label: int = 2) -> float:
    return float(classified(folder, premise, claim).softmax(-1)[label])


def test_entailment_by_sentences_takes_the_best_support_and_the_mean_claim(tiny: dict[str, str]) -> None:
    found = scores(f"entailment(model={tiny['nli']!r})")
    premises = ["Anna lives in Paris .", "the yellow flower is in the green garden near the house ."]
    claims = ["The cat sat .", "The dog ran ."]
    # Sentences end before a capital letter: the second premise begins with a small one.
    from nlgauge.text.sentences import sentences

    premises = sentences(SOURCES[0])
    hand = np.mean([max(entailed(tiny["nli"], p, c) for p in premises) for c in claims])
    assert sentences(OUTPUTS[0]) == claims
    assert found.values[0] == pytest.approx(hand, abs=1e-5)


def images(folder: str, source: str, output: str) -> tuple[Any, Any]:
    """Probabilities of entailment and of contradiction, source sentences × output sentences, as SummaC's images."""
    from nlgauge.text.sentences import sentences

    of = {k: [[entailed(folder, p, c, k) for c in sentences(output)] for p in sentences(source)] for k in (2, 0)}
    return np.array(of[2]), np.array(of[0])


MANY = Batch.from_columns(
    ["The cat sat . The dog ran . The river is green ."],
    ["Anna lives in Paris . The dog ran near the house . The cat sat on a mat . It was not tea ."],
)


def test_summac_zs_takes_the_most_entailing_and_the_most_contradicting_sentence_apart(tiny: dict[str, str]) -> None:
    entail, contradict = images(tiny["nli"], MANY.texts.list()[1], MANY.texts.list()[0])
    hand = (entail.max(axis=0) - contradict.max(axis=0)).mean()
    assert hand != pytest.approx((entail - contradict).max(axis=0).mean(), abs=1e-3)  # what it is not
    assert scores(f"entailment(minus=True, model={tiny['nli']!r})", MANY).values[0] == pytest.approx(hand, abs=1e-5)


@pytest.mark.parametrize("bins", [23, 50])
def test_summac_conv_is_the_authors_formula(bins: int, tiny: dict[str, str], tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    rng = np.random.default_rng(3)
    shapes = {"mlp.weight": (1, bins), "mlp.bias": (1,), "layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    head = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    save_file(head, tmp_path / "conv.safetensors")
    # The published bins, and even ones.
    edges = (
        [
            0.0,
            0.01,
            0.02,
            0.03,
            0.04,
            0.07,
            0.13,
            0.37,
            0.90,
            0.91,
            0.92,
            0.93,
            0.94,
            0.95,
            0.955,
            0.96,
            0.965,
            0.97,
            0.975,
            0.98,
            0.985,
            0.99,
            0.995,
            1.0,
        ]
        if bins == 23
        else [*np.arange(0, 1, 1 / 50), 1.0]
    )
    entail, _ = images(tiny["nli"], MANY.texts.list()[1], MANY.texts.list()[0])
    rows = [np.histogram(column, bins=edges)[0] @ head["mlp.weight"][0] + head["mlp.bias"][0] for column in entail.T]
    logits = head["layer_final.weight"] @ np.full(3, np.mean(rows)) + head["layer_final.bias"]
    hand = np.exp(logits)[1] / np.exp(logits).sum()
    spec = f"summac-conv(model={tiny['nli']!r}, head={str(tmp_path / 'conv.safetensors')!r})"
    assert scores(spec, MANY).values[0] == pytest.approx(hand, abs=1e-5)


def test_summac_conv_without_a_head_names_what_needs_none(tiny: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match="entailment\\(minus=True\\) is SummaC-ZS"):
        metric_from_spec(f"summac-conv(model={tiny['nli']!r})").ready()
    (tmp_path / "no.safetensors").write_bytes(b"no")
    with pytest.raises(NlgaugeError, match=r"not a safetensors file with mlp\.weight"):
        metric_from_spec(f"summac-conv(model={tiny['nli']!r}, head={str(tmp_path / 'no.safetensors')!r})").ready()


def test_entailment_of_whole_texts_less_contradiction(tiny: dict[str, str]) -> None:
    found = scores(f"entailment(split='none', minus=True, model={tiny['nli']!r})").values[1]
    hand = entailed(tiny["nli"], SOURCES[1], OUTPUTS[1]) - entailed(tiny["nli"], SOURCES[1], OUTPUTS[1], 0)
    assert found == pytest.approx(hand, abs=1e-5)


def test_a_long_source_is_cut_for_entailment_and_noted(tmp_path: Path) -> None:
    folder = build("classifier", tmp_path, length=12, num_labels=2)
    batch = Batch.from_columns(["a dog ran"], ["the cat sat on the mat near the green river ."])
    found = scores(f"factcc(split='none', label=1, model={folder!r})", batch)
    hand = entailed(folder, "the cat sat on the mat", "a dog ran", 1)
    assert found.values[0] == pytest.approx(hand, abs=1e-5)
    assert found.notes == {0: "longer than the model takes: cut at the end"}


def test_a_label_that_the_model_does_not_have_is_one_clear_line(tiny: dict[str, str]) -> None:
    with pytest.raises(NlgaugeError, match="no label 'correct or entailment"):
        scores(f"factcc(model={tiny['two']!r})")
    with pytest.raises(NlgaugeError, match="label=7; it has 3 labels"):
        scores(f"entailment(label=7, model={tiny['nli']!r})")
    assert scores(f"factcc(model={tiny['nli']!r})").values[1] == pytest.approx(
        entailed(tiny["nli"], SOURCES[1], OUTPUTS[1]), abs=1e-5
    )


HISTORY = "the cat sat\nAnna lives in Paris"
TALK = Batch.from_columns(["the dog ran"], [HISTORY], ["the river is green"])


def masked_logs(folder: str, row: list[int], places: list[int]) -> list[float]:
    import torch

    found = []
    for at in places:
        given = torch.tensor([[*row[:at], IDS["[MASK]"], *row[at + 1 :]]])
        with torch.inference_mode():
            said = oracle(folder, "AutoModelForMaskedLM")(given).logits[0, at].log_softmax(-1)
        found.append(float(said[row[at]]))
    return found


def test_usr_mlm_masks_each_token_of_the_turn_and_the_response(tiny: dict[str, str]) -> None:
    """The published line is `turn _eos _go response _eos`; all its tokens are masked in turn."""
    found = scores(f"usr-mlm(model={tiny['masked']!r})", TALK).values[0]
    row = [CLS, *ids("anna lives in paris _eos _go the dog ran _eos"), SEP]
    hand = np.mean(masked_logs(tiny["masked"], row, list(range(1, len(row) - 1))))
    assert found == pytest.approx(hand, abs=1e-5)


@pytest.mark.parametrize("x", ["c", "f"])
def test_usr_dr_is_the_probability_of_the_true_response(tiny: dict[str, str], x: str) -> None:
    found = scores(f"usr-dr(x={x!r}, model={tiny['two']!r})", TALK).values[0]
    before = "the river is green _eos"
    if x == "c":
        before = "anna lives in paris _eos " + before
    assert found == pytest.approx(entailed(tiny["two"], before, "_go the dog ran _eos", 1), abs=1e-5)


def test_usr_is_the_published_regression_on_standardised_parts(tiny: dict[str, str]) -> None:
    two, masked = tiny["two"], tiny["masked"]
    found = scores(f"usr(mlm={masked!r}, drc={two!r}, drf={two!r})", TALK).values[0]
    mlm = scores(f"usr-mlm(model={masked!r})", TALK).values[0]
    drc, drf = (scores(f"usr-dr(x={x!r}, model={two!r})", TALK).values[0] for x in "cf")
    z = [
        (mlm + 1.012293440649907) / 0.39053753419230813,
        (drc - 0.8604811806918587) / 0.30259338627812254,
        (drf - 0.8472124995904354) / 0.27987823011851076,
    ]
    by_hand = 0.6601 * z[0] + 0.4035 * z[0] + 0.5133 * z[1] + 0.9605 * z[1] + 0.3564 * z[2] + 3.5975
    assert found == pytest.approx(by_hand, abs=1e-5)


def guessed(model: Any, row: list[int], places: list[int], right: list[int]) -> list[bool]:
    import torch

    with torch.inference_mode():
        said = model(torch.tensor([row])).logits[0]
    return [int(said[p].argmax()) == r for p, r in zip(places, right, strict=True)]


def clozes(text: str, before: list[int], gap: int) -> list[tuple[list[int], list[int], list[int]]]:
    """Every gap-th word of four letters or more masked, in each shift."""
    words = text.split()
    found = []
    for shift in range(gap):
        places = [i for i, w in enumerate(words) if i % gap == shift and len(w) >= 4 and w in IDS]
        row = [CLS, *before, *(IDS["[MASK]"] if i in places else IDS.get(w, 1) for i, w in enumerate(words)), SEP]
        if places:
            found.append((row, [1 + len(before) + i for i in places], [IDS[words[i]] for i in places]))
    return found


def test_blanc_help_counts_words_that_only_the_summary_helps_to_guess(tmp_path: Path) -> None:
    text = " ".join(w for w in [*IDS, *reversed(IDS)] if w.isalpha() and w.islower())
    outputs = ["yellow green", "river house garden the cat sat", "morning", "window tea science"]
    folder = build("masked", tmp_path, length=400)
    found = scores(f"blanc-help(gap=3, model={folder!r})", Batch.from_columns(outputs, [text] * 4)).values
    model = oracle(folder, "AutoModelForMaskedLM")
    for output, value in zip(outputs, found, strict=True):
        with_it = [g for c in clozes(text, ids(output), 3) for g in guessed(model, *c)]
        stops = [IDS["."]] * len(ids(output))
        without = [g for c in clozes(text, stops, 3) for g in guessed(model, *c)]
        helped = sum(a > b for a, b in zip(with_it, without, strict=True))
        harmed = sum(a < b for a, b in zip(with_it, without, strict=True))
        assert value == pytest.approx((helped - harmed) / len(with_it))
    assert len(set(found.tolist())) > 1


def test_blanc_tune_learns_the_words_of_the_summary(tmp_path: Path) -> None:
    folder = build("masked", tmp_path, initializer_range=0.1)
    source = "yellow flower garden house"
    batch = Batch.from_columns([" ".join([source] * 4), "tea"], [source] * 2)
    spec = f"blanc-tune(gap=2, epochs=15, rate=0.01, model={folder!r})"
    found = scores(spec, batch)
    assert found.values[0] >= 0.5  # tuned on the very words it is asked for
    assert found.values[1] == 0.0  # nothing long enough to learn from
    assert np.array_equal(scores(spec, batch).values, found.values)


def best_span(folder: str, question: str, text: str) -> tuple[str, float]:
    import torch

    given = pair(question, text)
    with torch.inference_mode():
        out = oracle(folder, "AutoModelForQuestionAnswering")(**given)
    shift, n = len(ids(question)) + 2, len(ids(text))
    starts, ends = (x[0].softmax(-1)[shift : shift + n] for x in (out.start_logits, out.end_logits))
    a, b = int(starts.argmax()), int(ends.argmax())
    return " ".join(text.split()[a : b + 1]) if b >= a else "", float(starts[a] * ends[b])


def test_summaqa_asks_the_output_about_masked_names(tiny: dict[str, str]) -> None:
    from nlgauge.models.answering import overlap

    source = "The dog lives in Paris . The cat sat near London ."
    batch = Batch.from_columns(["the dog ran near Paris", "tea"], [source] * 2)
    asked = [("The dog lives in MASKED .", "Paris"), ("The cat sat near MASKED .", "London")]
    for of in ("prob", "f"):
        found = scores(f"summaqa(of={of!r}, entities='capitals', qa={tiny['qa']!r})", batch).values[0]
        told = [best_span(tiny["qa"], q, "the dog ran near Paris") for q, _ in asked]
        hand = [p if of == "prob" else overlap(t, name) for (t, p), (_, name) in zip(told, asked, strict=True)]
        assert found == pytest.approx(np.mean(hand), abs=1e-5)


def test_a_text_without_names_has_no_question(tiny: dict[str, str]) -> None:
    found = scores(f"summaqa(entities='capitals', qa={tiny['qa']!r})", Batch.from_columns(["tea"], ["the cat sat ."]))
    assert found.reasons == {0: "no question to ask"}


def test_names_are_what_the_model_marks(tiny: dict[str, str]) -> None:
    import torch

    from nlgauge.models.answering import names

    text = "Anna lives in Paris near the river and the cat sat in London"
    with torch.inference_mode():
        out = oracle(tiny["ner"], "AutoModelForTokenClassification")(torch.tensor([[CLS, *ids(text), SEP]]))
    marked = out.logits[0, 1:-1].argmax(-1).tolist()
    runs: list[str] = []
    for k, (word, label) in enumerate(zip(text.split(), marked, strict=True)):
        if label == 2 and k and marked[k - 1] != 0:
            runs[-1] += f" {word}"
        elif label:
            runs.append(word)
    assert [text[a:b] for a, b in names(text, tiny["ner"])] == runs
    assert 0 < sum(map(bool, marked)) < len(marked)


def test_a_long_text_is_searched_in_windows(tmp_path: Path) -> None:
    from nlgauge.models.answering import Answering

    folder = build("qa", tmp_path, length=16)
    text = " ".join(["the cat sat on the mat near the green river ."] * 3)
    model = Answering(folder, "qa")
    windows = model.windows("who sat", text)
    parts = [text[w[4][0] : w[-2][1]] for w in windows["offset_mapping"]]  # after [CLS] who sat [SEP]
    hand = max(best_span(folder, "who sat", part)[1] for part in parts)
    assert len(parts) > 2
    assert model.answer("who sat", text).probability == pytest.approx(hand, abs=1e-5)


def test_qags_compares_the_answers_of_output_and_source(tiny: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    from nlgauge.models.answering import Answer, Answering

    batch = Batch.from_columns(["the dog ran in Paris near London"], ["Anna lives in Paris"])
    spec = f"qags(beams=2, entities='capitals', qg={tiny['qg']!r}, qa={tiny['qa']!r})"
    metric: Any = metric_from_spec(spec)
    metric.ready()
    made = metric.questions("the dog ran in Paris near London")
    # The generator is transformers' own beam search on the marked text.
    import torch

    shown = "generate question: the dog ran in <hl> Paris <hl> near London"
    model = oracle(tiny["qg"], "AutoModelForSeq2SeqLM")
    out = model.generate(torch.tensor([[*ids(shown), SEP]]), num_beams=2, max_new_tokens=48, do_sample=False)
    words = list(IDS)
    said = " ".join(words[t] for t in out[0].tolist() if t > 5)
    assert said
    assert made[0] == (said, "Paris")
    # Answers by hand: from the output the two names, from the source one of them in part.
    replies = {("q1", 0): "Paris", ("q1", 1): "in Paris", ("q2", 0): "tea", ("q2", 1): "tea"}
    monkeypatch.setattr(type(metric), "questions", lambda self, output: [("q1", "Paris"), ("q2", "London")])
    monkeypatch.setattr(
        Answering, "answer", lambda self, q, text: Answer(replies[q, int(text.startswith("Anna"))], 1.0)
    )
    assert metric.score(batch).values[0] == pytest.approx(2 / 3)  # q2 did not give back its own name


NAMED = {"perplexity": "lm", "lm-score": "lm", "follow-up": "lm", "fed": "lm", "lm-contrast": "expert",
         "bartscore": "model",
         "unieval": "model", "ctrleval": "model", "bleurt": "model", "usr-mlm": "model", "usr-dr": "model",
         "usr": "drc",
         "blanc-help": "model", "blanc-tune": "model", "factcc": "model", "entailment": "model",
         "summac-conv": "model", "summaqa": "qa",
         "qags": "qg"}  # fmt: skip


@pytest.mark.parametrize(("name", "option"), NAMED.items())
def test_every_metric_by_name_says_which_weights_it_needs_and_one_line_when_they_are_missing(
    name: str, option: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nlgauge.cli import main

    facts = registry.get("metric", name).facts
    assert facts.extra == "neural"
    assert "by name" in facts.weights
    path = tmp_path / "data.csv"
    path.write_text(
        "system,input,output,source,context,reference,quality\nA,1,tea,cat,dog,tea,3\nB,1,cat,cat,dog,tea,4\n"
    )
    monkeypatch.setattr(sys, "argv", ["nlgauge", "score", str(path), "-m", f"{name}({option}='./nowhere')"])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err.strip()
    assert stop.value.code == 2
    assert f"{option}='./nowhere': no such folder" in " ".join(said.split())
    assert "Traceback" not in said


def test_weights_in_another_format_than_safetensors_are_not_read(tmp_path: Path) -> None:
    import torch

    folder = Path(build("gpt2", tmp_path))
    weights = folder / "model.safetensors"
    from safetensors.torch import load_file

    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(NlgaugeError, match=r"no weights as model\.safetensors"):
        scores(f"perplexity(lm={str(folder)!r})")


def test_a_model_with_one_logit_gives_its_sigmoid(tiny: dict[str, str]) -> None:
    """A softmax over one number is 1 for every output."""
    import torch

    values = scores(f"entailment(split='none', label=0, model={tiny['regression']!r})").values[:2]
    model = oracle(tiny["regression"], "AutoModelForSequenceClassification")
    with torch.no_grad():
        logits = [model(**pair(source, output)).logits for source, output in zip(SOURCES[:2], OUTPUTS[:2], strict=True)]
    assert values.tolist() == pytest.approx([float(torch.sigmoid(x)[0, 0]) for x in logits], abs=1e-5)
    assert 0 < min(values) < max(values) < 1


def test_label_0_is_part_of_the_signature(tiny: dict[str, str]) -> None:
    first, default = (metric_from_spec(f"entailment({more}model={tiny['nli']!r})") for more in ("label=0, ", ""))
    assert "label:0" in first.signature and first.signature != default.signature
