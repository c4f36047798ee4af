"""Training data without labels: what is kept is labelled 1, what came in 0, by construction."""

from __future__ import annotations

import numpy as np
import pytest
from little_text import documents

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.construct import (
    TASKS,
    Borrowed,
    Recipe,
    examples,
    fusion,
    harmed,
    itself,
    knowledge,
    lead,
    masked_phrases,
    phrases,
    pseudo_summary,
    recipe,
)
from nlgauge.metrics.alignment.construct_models import kept, masked
from nlgauge.text.paraphrase import Reworded, most_distant, reordered
from nlgauge.text.textrank import textrank

DOCUMENTS = documents()


def same(text: str, rng: np.random.Generator) -> list[str]:
    return [text]


@pytest.mark.parametrize("task", TASKS)
def test_every_word_has_a_label_and_both_labels_occur(task: str) -> None:
    made = list(examples(DOCUMENTS, task, 0, 60))
    assert all(len(e.a.split()) == len(e.labels) for e in made)
    assert {label for e in made for label in e.labels} == {0, 1}


def test_without_paraphrase_words_labelled_1_stand_in_the_text_in_that_order() -> None:
    parts = Recipe(pseudo_summary, same, masked_phrases, Borrowed.of(DOCUMENTS))
    for e in examples(DOCUMENTS, "summarization", 3, 60, parts):
        rest = iter(e.b[0].split())
        for word, label in zip(e.a.split(), e.labels, strict=True):
            if label and word not in ("not", "never"):
                bare = word.strip(".,")
                assert any(bare == w.strip(".,") or w.strip(".,").startswith(bare) for w in rest), (word, e)


def test_an_infilled_phrase_is_0_unless_it_says_what_stood_there() -> None:
    words = "Alice saw the red house today".split()
    filler = Borrowed({"articles and pointers//3": ["the green house"]}, near=0.0)
    new, labels = filler(words, [(2, 5)], ["Alice saw."], np.random.default_rng(0))
    assert (" ".join(new), labels) == ("Alice saw the green house today", [1, 1, 1, 0, 1, 1])


def test_harm_is_labelled_0_and_earlier_labels_stay() -> None:
    words = "Alice sold 25 boats in Oslo.".split()
    new, labels = harmed(words, [0, 1, 1, 1, 1, 1], "number", np.random.default_rng(0))
    assert new[2] != "25"
    assert labels == [0, 1, 0, 1, 1, 1]


def test_a_negation_that_comes_in_shifts_the_labels_behind_it() -> None:
    new, labels = harmed("The bridge is safe.".split(), [1, 1, 1, 0], "negate", np.random.default_rng(0))
    assert (" ".join(new), labels) == ("The bridge is not safe.", [1, 1, 1, 0, 0])


def test_the_same_seed_gives_the_same_data_and_a_prefix_stays() -> None:
    long, short = (list(examples(DOCUMENTS, "style", 5, n)) for n in (30, 10))
    assert long[: len(short)] == short
    assert long != list(examples(DOCUMENTS, "style", 6, 30))


def test_targets_are_those_of_the_tasks() -> None:
    rng = np.random.default_rng(0)
    document, others = DOCUMENTS[0], DOCUMENTS[1]
    summary = pseudo_summary(document, others, rng)
    assert summary
    assert summary.b == (" ".join(document),)
    assert summary.target.split(". ")[0].rstrip(".") in " ".join(document)
    style = itself(document, others, rng)
    assert style and style.b == (style.target,) and style.whole
    first = lead(document, others, rng)
    assert first and first.target == document[0] and document[0] not in first.b[0]
    turn = knowledge(document, others, rng)
    assert turn and any(s in turn.b[-1] for s in document if s in turn.target)


def test_a_fused_target_keeps_some_words_of_the_summary_in_their_order() -> None:
    shorter = 0
    for seed in range(40):
        plain, fused = (
            make(DOCUMENTS[0], DOCUMENTS[1], np.random.default_rng(seed)) for make in (pseudo_summary, fusion)
        )
        assert plain and fused and fused.b == plain.b
        rest = iter(plain.target.split())
        assert all(word in rest for word in fused.target.split())
        assert len(fused.target.split()) >= 5
        shorter += fused.target != plain.target
    assert 10 < shorter < 30  # every second one


def test_fillings_of_a_lead_do_not_come_from_its_own_text() -> None:
    assert recipe(DOCUMENTS, "summarization", "lead").infill.near == 0.0  # type: ignore[attr-defined]
    assert recipe(DOCUMENTS, "summarization").infill.near > 0.0  # type: ignore[attr-defined]


def test_textrank_puts_the_sentence_that_others_resemble_first() -> None:
    text = ["Tea is hot.", "The bridge over the river closed.", "A river bridge.", "The bridge closed in May."]
    assert textrank(text)[0] == 1
    assert textrank(text)[-1] == 0


def test_a_paraphrase_moves_clauses_and_the_most_distant_is_taken() -> None:
    assert reordered("The mill closed in 1990.") == "In 1990, the mill closed."
    assert most_distant("a b c d", ["a b c d", "d c b x", "a b c x"]) == "d c b x"
    words = {"autumn": ["fall"]}
    said = Reworded(lambda w: words.get(w, []), amount=1.0)("They came in the autumn.", np.random.default_rng(0))
    assert len(said) == 10
    assert all("fall" in s for s in said)


def test_phrases_cover_every_word_once() -> None:
    for document in DOCUMENTS[:5]:
        for sentence in document:
            words = sentence.split()
            spans = phrases(words)
            assert [i for a, b in spans for i in range(a, b)] == list(range(len(words)))


def test_words_around_the_masks_of_a_model_are_kept() -> None:
    template = masked("Ann saw a red bird in town".split(), [(2, 5)], "<mask>")
    assert template == ["Ann", "saw", "<mask>", "in", "town"]
    assert kept(template, "Ann saw two grey cats in town".split()) == [1, 1, 0, 0, 0, 1, 1]


def test_bad_input_is_one_clear_line() -> None:
    with pytest.raises(NlgaugeError, match="task='poetry'; expected one of summarization, dialogue, response, style"):
        recipe(DOCUMENTS, "poetry")
    with pytest.raises(NlgaugeError, match="no text to train on"):
        list(examples([], "style", 0, 3))
