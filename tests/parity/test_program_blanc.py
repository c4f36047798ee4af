"""BLANC beside PrimerAI's package blanc on the same weights: its defaults of today, the paper's gap, long texts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import OTHER, SOURCE, SUMMARIES, agree, batch, bert, installed, ours, program, stand_in

DOCS = [SOURCE] * 4 + [OTHER] * 4


@pytest.fixture
def blanc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Any, str]:
    """The package, and a model without dropout: what is random in tuning is then the choice of masks alone."""
    installed("blanc")
    import torch

    from nlgauge.text.sentences import sentences

    likely = "said after bridge river train"
    folder = bert("MaskedLM", tmp_path, likely=likely, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    # transformers has no AdamW of its own any more, and no Transformer-XL, which two other scores of the package need.
    monkeypatch.setattr(sys.modules["transformers"], "AdamW", torch.optim.AdamW, raising=False)
    stand_in(monkeypatch, "blanc.shannon", Shannon=None)
    stand_in(monkeypatch, "blanc.estime", Estime=None)
    found = program("blanc")
    # nltk's sentence splitter is a file that no package carries.
    monkeypatch.setattr("blanc.blanc.sent_tokenize", sentences)
    return found, folder


@pytest.mark.parametrize("gap", [None, 1, 6])
def test_blanc_help_equals_the_package(blanc: tuple[Any, str], gap: int | None) -> None:
    package, folder = blanc
    asked = {} if gap is None else {"gap": gap}
    theirs = package.BlancHelp(model_name=folder, show_progress_bar=False, **asked).eval_pairs(DOCS, SUMMARIES * 2)
    option = "" if gap is None else f"gap={gap}, "
    found = ours(f"blanc-help({option}model={folder!r})", batch(SUMMARIES * 2, DOCS))
    agree(f"blanc-help, gap {gap}", found, theirs, 1e-9)
    assert len(set(found)) > 2


LONG = [  # more than the 512 pieces that a BERT reads
    (SOURCE + " " + OTHER.replace(".", ",") * 4, " ".join([SOURCE, OTHER] * 3)),
    (SOURCE, " ".join(f"{w}, the river {w}" for w in OTHER.replace(".", "").split() * 5)),
]


@pytest.mark.parametrize(("doc", "summary"), [(SOURCE, SUMMARIES[2]), (OTHER, SUMMARIES[0]), *LONG])
def test_the_same_words_are_asked_and_guessed(blanc: tuple[Any, str], doc: str, summary: str) -> None:
    """Place by place, after the summary and after full stops. Too long a sentence gives way down to 100 pieces, then the
    summary by whole sentences.
    """
    from nlgauge.metrics import metric_from_spec
    from nlgauge.models.masked import masked

    package, folder = blanc
    theirs = package.BlancHelp(model_name=folder, show_progress_bar=False)
    (((guesses,),), ((answers,),)) = theirs.mask_and_infer(theirs.model, [doc], [[summary]], sep=theirs.help_sep)
    mine: Any = metric_from_spec(f"blanc-help(model={folder!r})")
    model = masked(folder)
    stop = model.tokenizer.convert_tokens_to_ids(".")
    names = model.tokenizer.convert_ids_to_tokens
    for k, filler in enumerate((None, stop)):
        asked = mine.clozes(model, doc, summary, filler)
        told = model.guesses(asked)
        assert [dict(zip(c.places, names(list(c.answers)), strict=True)) for c in asked] == answers[k::2]
        assert [dict(zip(c.places, names(list(t)), strict=True)) for c, t in zip(asked, told, strict=True)] == guesses[
            k::2
        ]


def test_too_long_texts_have_the_same_score(blanc: tuple[Any, str]) -> None:
    package, folder = blanc
    docs, summaries = map(list, zip(*LONG, strict=True))
    theirs = package.BlancHelp(model_name=folder, show_progress_bar=False).eval_pairs(docs, summaries)
    agree("blanc-help, long", ours(f"blanc-help(model={folder!r})", batch(summaries, docs)), theirs, 1e-9)


@pytest.mark.parametrize("gap", [2, 3])
def test_the_lessons_of_blanc_tune_are_the_package_s(
    blanc: tuple[Any, str], gap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nlgauge.metrics.learned import blanc as mine
    from nlgauge.models.masked import masked

    package, folder = blanc
    without_chance(monkeypatch)
    theirs = package.BlancTune(
        model_name=folder, gap=gap, p_token_replace=0.0, p_token_original=0.0, show_progress_bar=False
    ).prepare_finetuning_data(SOURCE + OTHER)
    found = mine.lessons(masked(folder), SOURCE + OTHER, gap, np.random.default_rng(0))
    assert [(list(t.input_ids), list(t.labels)) for t in theirs] == found
    assert len(found) > 6


def without_chance(patch: pytest.MonkeyPatch) -> None:
    """A fifth of the masks become the token itself or a random one, by each program's own dice: switched off in both."""
    for name in ("RANDOM", "SAME"):
        patch.setattr(f"nlgauge.metrics.learned.blanc.{name}", 0.0)


@pytest.mark.parametrize("gap", [2, 3])
def test_blanc_tune_equals_the_package_where_nothing_is_left_to_chance(
    blanc: tuple[Any, str], gap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, folder = blanc
    without_chance(monkeypatch)
    summaries = [*SUMMARIES[:3], OTHER + " " + OTHER]  # the last is read in several chunks
    theirs = package.BlancTune(
        model_name=folder,
        gap=gap,
        finetune_epochs=6,
        learning_rate=0.03,
        p_token_replace=0.0,
        p_token_original=0.0,
        show_progress_bar=False,
    ).eval_pairs(DOCS[2:6], summaries)
    found = ours(f"blanc-tune(gap={gap}, epochs=6, rate=0.03, model={folder!r})", batch(summaries, DOCS[2:6]))
    agree(f"blanc-tune, gap {gap}", found, theirs, 1e-9)
    assert max(map(abs, found)) > 0.01


def test_the_defaults_are_the_package_s(blanc: tuple[Any, str]) -> None:
    from nlgauge.metrics import metric_from_spec
    from nlgauge.metrics.learned import blanc as mine

    theirs = sys.modules["blanc.utils"].Defaults
    assert (theirs.gap, theirs.gap_mask, theirs.gap_tune) == (2, 1, -1)
    made: Any = metric_from_spec("blanc-tune")
    assert (made.gap, made.epochs, made.rate) == (theirs.gap, theirs.finetune_epochs, theirs.learning_rate)
    assert made.lessons == "even" and theirs.finetune_mask_evenly and theirs.finetune_top_fully
    assert (theirs.finetune_chunk_size, theirs.finetune_chunk_stride, theirs.p_mask) == (
        mine.CHUNK,
        mine.STRIDE,
        mine.SHARE,
    )
    assert (theirs.min_token_length_normal, theirs.min_token_length_lead, theirs.len_sent_allow_cut) == (
        mine.WHOLE,
        mine.FIRST,
        mine.SENTENCE,
    )
    assert pytest.approx((theirs.p_token_replace, theirs.p_token_replace + theirs.p_token_original)) == (
        mine.RANDOM,
        mine.SAME,
    )
