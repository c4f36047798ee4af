"""BARTScore, UniEval and CTRLEval on tiny random models, beside a plain pass over single pairs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import CLS, IDS, SEP, build, ids

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

OUTPUTS = ["The cat sat . The dog ran .", "the dog ran", "", "tea is not green ."]
SOURCES = ["Anna lives in Paris . the cat is yellow ."] * 3 + ["the park"]
CONTEXTS = ["the river is green"] * 4
REFERENCES = [["the cat is on a mat .", "a cat sat"], ["the dog ran"], ["a"], ["tea"]]
BATCH = Batch.from_columns(OUTPUTS, SOURCES, CONTEXTS, REFERENCES, ["science", "politics", "science", "cooking"])
ABLE = [0, 1, 3]


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build("bart", tmp_path_factory.mktemp("bart"))


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build("t5", tmp_path_factory.mktemp("t5"))


@cache
def oracle(folder: str) -> Any:
    from transformers import AutoModelForSeq2SeqLM

    return AutoModelForSeq2SeqLM.from_pretrained(folder).eval()


def loss(folder: str, source: list[int], target: list[int]) -> float:
    """transformers' own mean negative log-likelihood of a target."""
    import torch

    with torch.inference_mode():
        return float(oracle(folder)(input_ids=torch.tensor([source]), labels=torch.tensor([target])).loss)


def marked(text: str) -> list[int]:
    return [CLS, *ids(text), SEP]


def scores(spec: str, batch: Batch = BATCH) -> Any:
    metric: Any = metric_from_spec(spec)
    metric.ready()
    return metric.score(batch)


@pytest.mark.parametrize("direction", ["s-h", "r-h", "h-r", "f"])
@pytest.mark.parametrize("how", ["mean", "max"])
def test_bartscore_is_minus_the_loss_of_the_model(bart: str, direction: str, how: str) -> None:
    found = scores(f"bartscore(direction={direction!r}, references={how!r}, model={bart!r})")
    for i in ABLE:
        forth = [-loss(bart, marked(r), marked(OUTPUTS[i])) for r in REFERENCES[i]]
        back = [-loss(bart, marked(OUTPUTS[i]), marked(r)) for r in REFERENCES[i]]
        fold = np.mean if how == "mean" else np.max
        hand = {
            "s-h": -loss(bart, marked(SOURCES[i]), marked(OUTPUTS[i])),
            "r-h": fold(forth),
            "h-r": fold(back),
            "f": (fold(forth) + fold(back)) / 2,
        }[direction]
        assert found.values[i] == pytest.approx(float(hand), abs=1e-4)
    assert found.reasons == {2: "empty output"}


def test_prompts_stand_after_the_source_or_before_the_target_and_are_averaged(bart: str) -> None:
    at_source = scores(f"bartscore(prompt=('it is', 'a'), model={bart!r})").values[1]
    hand = [loss(bart, marked(f"{SOURCES[1]} {p},"), marked(OUTPUTS[1])) for p in ("it is", "a")]
    assert at_source == pytest.approx(-np.mean(hand), abs=1e-4)
    at_target = scores(f"bartscore(prompt='it is', at='target', model={bart!r})").values[1]
    assert at_target == pytest.approx(-loss(bart, marked(SOURCES[1]), marked(f"it is, {OUTPUTS[1]}")), abs=1e-4)


def test_a_source_longer_than_the_model_is_cut_and_noted(tmp_path: Path) -> None:
    folder = build("bart", tmp_path, length=10)
    source = "the cat sat on the mat near the green river ."
    found = scores(f"bartscore(model={folder!r})", Batch.from_columns(["a dog"], [source]))
    cut = [CLS, *ids(source)[:8], SEP]
    assert found.values[0] == pytest.approx(-loss(folder, cut, marked("a dog")), abs=1e-4)
    assert found.notes == {0: "longer than the model takes: cut at the end"}


def test_a_score_has_no_batch_mates(bart: str) -> None:
    whole = scores(f"bartscore(model={bart!r})").values
    alone = scores(f"bartscore(model={bart!r})", Batch.from_columns(OUTPUTS[:1], SOURCES[:1])).values
    assert alone[0] == pytest.approx(whole[0], abs=1e-5)


def yes(folder: str, text: str) -> float:
    import torch

    with torch.inference_mode():
        out = oracle(folder)(input_ids=torch.tensor([[*ids(text), SEP]]), decoder_input_ids=torch.tensor([[0]]))
    p = out.logits[0, 0].softmax(-1)
    return float(p[IDS["Yes"]] / (p[IDS["Yes"]] + p[IDS["No"]]))


def test_unieval_is_yes_among_yes_and_no_for_text_sentences_or_sums(t5: str) -> None:
    document = " </s> document: " + SOURCES[0]
    claims = [
        f"question: Is this claim consistent with the document? </s> claim: {s}{document}"
        for s in ("The cat sat .", "The dog ran .")
    ]
    found = scores(f"unieval(aspect='consistency', model={t5!r})")
    assert found.values[0] == pytest.approx(np.mean([yes(t5, c) for c in claims]), abs=1e-5)
    whole = f"question: Is this a coherent summary to the document? </s> summary: {OUTPUTS[0]}{document}"
    assert scores(f"unieval(model={t5!r})").values[0] == pytest.approx(yes(t5, whole), abs=1e-5)
    ask = (
        "question: Is this an engaging and informative response according to the dialogue history and fact? "
        "</s> response: "
    )
    rest = f" </s> dialogue history: {SOURCES[0]} </s> fact: {CONTEXTS[0]}"
    engaging = scores(f"unieval(task='dialogue', aspect='engagingness', model={t5!r})")
    assert engaging.values[0] == pytest.approx(
        sum(yes(t5, ask + s + rest) for s in ("The cat sat .", "The dog ran .")), abs=1e-5
    )
    assert engaging.reasons == {2: "empty output"}


def test_unieval_over_references_and_overall(t5: str) -> None:
    ask = "question: Is this sentence informative according to the reference? </s> sentence: "
    each = [yes(t5, f"{ask}{OUTPUTS[0]} </s> reference: {r}") for r in REFERENCES[0]]
    informed = scores(f"unieval(task='data2text', aspect='informativeness', model={t5!r})").values[0]
    assert informed == pytest.approx(max(each), abs=1e-5)
    natural = scores(f"unieval(task='data2text', aspect='naturalness', model={t5!r})").values[0]
    overall = scores(f"unieval(task='data2text', aspect='overall', model={t5!r})").values[0]
    assert overall == pytest.approx((natural + informed) / 2, abs=1e-9)


# As the authors' program puts them to the model (`add_question` in its utils.py); o output, s source, c context, r
# reference.
QUESTIONS = {
    ("summarization", "fluency"): "Is this a fluent paragraph? </s> paragraph: {o}",
    ("summarization", "coherence"): "Is this a coherent summary to the document? </s> summary: {o} </s> document: {s}",
    ("summarization", "consistency"): "Is this claim consistent with the document? </s> claim: {o} </s> document: {s}",
    ("summarization", "relevance"): "Is this summary relevant to the reference? </s> summary: {o} </s> reference: {r}",
    ("dialogue", "naturalness"): "Is this a natural response in the dialogue? </s> response: {o}",
    ("dialogue", "coherence"): "Is this a coherent response given the dialogue history? </s> response: {o} </s> "
                               "dialogue history: {s}",
    ("dialogue", "engagingness"): "Is this an engaging and informative response according to the dialogue history and "
    "fact? </s> response: {o} </s> dialogue history: {s} </s> fact: {c}",
    ("dialogue", "groundedness"): "Is this response consistent with knowledge in the fact? </s> response: {o} "
                                  "</s> fact: {c}",
    ("dialogue", "understandability"): "Is this an understandable response in the dialogue? </s> response: {o}",
    ("data2text", "naturalness"): "Is this a fluent utterance? </s> utterance: {o}",
    ("data2text", "informativeness"): "Is this sentence informative according to the reference? </s> sentence: "
                                      "{o} </s> reference: {r}",
    ("fact", "consistency"): "Is this claim consistent with the document? </s> claim: {o} </s> document: {s}",
}  # fmt: skip


def test_every_aspect_of_unieval_asks_the_question_that_the_weights_were_trained_on(t5: str) -> None:
    from nlgauge.metrics.learned.unieval import TASKS

    assert set(QUESTIONS) == {(task, aspect) for task, aspects in TASKS.items() for aspect in aspects}
    for (task, aspect), question in QUESTIONS.items():
        found = scores(f"unieval(task='{task}', aspect='{aspect}', model={t5!r})").values[
            1
        ]  # one sentence, one reference
        text = question.format(o=OUTPUTS[1], s=SOURCES[1], c=CONTEXTS[1], r=REFERENCES[1][0])
        assert found == pytest.approx(yes(t5, f"question: {text}"), abs=1e-5)


def test_every_task_of_unieval_says_what_it_needs() -> None:
    needs = {
        ("summarization", "relevance"): {"references"},
        ("dialogue", "groundedness"): {"context"},
        ("dialogue", "naturalness"): set(),
        ("dialogue", "overall"): {"source", "context"},
        ("fact", "consistency"): {"source"},
    }
    for (task, aspect), wanted in needs.items():
        assert metric_from_spec(f"unieval(task='{task}', aspect='{aspect}')").facts.needs == {"output", *wanted}


def test_coherence_of_ctrleval_is_the_mean_of_masked_sentences(bart: str) -> None:
    found = scores(f"ctrleval(model={bart!r})")
    parts = [("<mask_1> The dog ran .", "The cat sat ."), ("The cat sat . <mask_1>", "The dog ran .")]
    hand = [-loss(bart, marked(given), marked(target)) for given, target in parts]
    assert found.values[0] == pytest.approx(np.mean(hand), abs=1e-4)


def test_ctrleval_weighs_sentences_by_their_rarest_token(bart: str, tmp_path: Path) -> None:
    weights = np.arange(len(IDS)) / 10
    path = tmp_path / "iwf.txt"
    path.write_text("\n".join(map(str, weights)))
    found = scores(f"ctrleval(model={bart!r}, iwf={str(path)!r})")
    parts = [("<mask_1> The dog ran .", "The cat sat ."), ("The cat sat . <mask_1>", "The dog ran .")]
    hand = [-loss(bart, marked(given), marked(target)) for given, target in parts]
    w = [weights[marked(target)].max() for _, target in parts]
    assert found.values[0] == pytest.approx(np.average(hand, weights=w), abs=1e-4)
    path.write_text("1\n2\n")
    (tmp_path / "few.txt").write_text("1\n2\n")
    with pytest.raises(NlgaugeError, match="has 2 weights"):
        scores(f"ctrleval(model={bart!r}, iwf={str(tmp_path / 'few.txt')!r})")


def test_consistency_of_ctrleval_masks_the_prefix_and_the_rest(bart: str) -> None:
    batch = Batch.from_columns(["the cat sat on a mat", "on a mat"], ["the cat sat", "the cat sat"])
    hand = (
        -loss(bart, marked("the cat sat <mask_1>"), ids("on a mat"))
        - loss(bart, marked("<mask_1> on a mat"), ids("the cat sat"))
    ) / 2
    found = scores(f"ctrleval(aspect='consistency', model={bart!r})", batch).values
    assert found == pytest.approx([hand, hand], abs=1e-4)


def test_relevance_of_ctrleval_is_the_share_of_the_label(bart: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    labels = {"science": ["science"], "politics": ["politics"]}
    prompts = ["{output} news {mask}", "about {mask} . {output}"]
    path.write_text(json.dumps({"prompts": prompts, "labels": labels}))
    found = scores(f"ctrleval(aspect='relevance', prompts={str(path)!r}, model={bart!r})")
    p = np.array(
        [
            [
                np.exp(-loss(bart, marked(t.replace("{output}", OUTPUTS[0]).replace("{mask}", "<mask_1>")), ids(word)))
                for word in labels
            ]
            for t in prompts
        ]
    )
    weight = p.sum(axis=1) / p.sum()
    assert found.values[0] == pytest.approx(
        (p / p.sum(axis=1, keepdims=True) * weight[:, None]).sum(axis=0)[0], abs=1e-4
    )
    assert found.reasons[3] == "control 'cooking' is none of science, politics"


def test_the_prompts_of_table_4_are_there() -> None:
    from nlgauge.metrics.learned.ctrleval import prompts

    assert prompts("topics").labels.keys() == {
        "computers",
        "politics",
        "religion",
        "science",
        "legal",
        "clickbait",
        "space",
        "military",
    }
    assert [len(prompts(t).patterns) for t in ("topics", "persona", "topical", "summaries")] == [2, 3, 2, 3]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bartscore(direction='h-s')", "direction must be s-h, r-h, h-r or f"),
        ("bartscore(at='middle')", "at must be source or target"),
        ("unieval(task='dialog')", "Did you mean 'dialogue'"),
        ("unieval(aspect='groundedness')", "no aspect 'groundedness' of summarization"),
        ("ctrleval(aspect='fluency')", "aspect must be coherence, consistency or relevance"),
        ("ctrleval(aspect='relevance', prompts='summaries')", "no labels to choose from"),
        ("ctrleval(aspect='relevance', prompts='topic')", "Did you mean 'topics'"),
        ("ctrleval(iwf='nowhere.txt')", "no such file"),
    ],
)
def test_wrong_options_are_one_clear_line(spec: str, said: str) -> None:
    with pytest.raises(NlgaugeError, match=said):
        scores(spec)
