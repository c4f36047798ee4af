"""Estimators X and S: claims with errors, a training that repeats itself, weights in whole numbers, and what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from little_text import documents
from typer.testing import CliRunner

from nlgauge.cli import build
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.alignment import align
from nlgauge.metrics.alignment.alignments import ToAlign
from nlgauge.metrics.alignment.claim_errors import ERRORS, ClaimParts
from nlgauge.metrics.alignment.claims import EVIDENCE, claims
from nlgauge.metrics.alignment.joint import Joint, JointWeights, covering, joined, joint_model
from nlgauge.metrics.alignment.joint_training import JointPlan, train
from nlgauge.models.encoder import Encoder

TINY = JointPlan(steps=6, batch=4)
TEXT = documents(12)


def _like(d: int) -> list[list[int]]:
    """No order but the document's."""
    return [[i, *(j for j in range(len(TEXT[d])) if j != i)] for i in range(len(TEXT[d]))]


# --- claims ---


def test_claims_come_in_pairs_with_the_same_evidence_and_a_label_for_each_word() -> None:
    made = claims(TEXT, ClaimParts.of(TEXT), _like, [0, 1], 60)
    for right, wrong in zip(made[::2], made[1::2], strict=True):
        assert right.supported
        assert set(right.labels) == {1.0}
        assert not wrong.supported
        assert 0.0 in wrong.labels
        assert wrong.error == "absent" or right.evidence == wrong.evidence
        assert len(right.evidence) <= EVIDENCE
        for claim in (right, wrong):
            assert len(claim.labels) == len(claim.text.split())


def test_claims_follow_from_the_seed_alone() -> None:
    parts = ClaimParts.of(TEXT)
    assert claims(TEXT, parts, _like, [3, 7], 20) == claims(TEXT, ClaimParts.of(TEXT), _like, [3, 7], 20)
    assert claims(TEXT, parts, _like, [3, 7], 20) != claims(TEXT, parts, _like, [3, 8], 20)


@pytest.mark.parametrize("name", ["far", "near", "name", "number", "negation", "pronoun", "roles", "subject", "added"])
def test_each_error_marks_the_words_that_came_in_and_no_others(name: str) -> None:
    words = "Alice said that he was born in Oslo and sold 12 boats to Edgar Flynn in the summer.".split()
    rng, parts = np.random.default_rng(0), ClaimParts.of(TEXT)
    spoiled = ERRORS[name](words, [1.0] * len(words), TEXT[0], parts, rng)
    assert spoiled is not None
    new, labels, source = spoiled
    assert new != words
    assert len(new) == len(labels)
    assert source is None or 0 <= source < len(TEXT[0])
    came = [w for w, label in zip(new, labels, strict=True) if label == 0]
    assert came
    if name != "roles":  # there the words stay, in each other's place
        kept = [w.strip(".,") for w, label in zip(new, labels, strict=True) if label == 1]
        assert set(kept) <= {w.strip(".,") for w in words}


def test_an_error_says_what_it_is_named_for() -> None:
    words = "Alice said that he was born in May of 1990.".split()
    one = [1.0] * len(words)
    rng, parts = np.random.default_rng(1), ClaimParts.of(TEXT)

    def came(name: str) -> list[str]:
        new, labels, _ = ERRORS[name](words, one, TEXT[0], parts, rng)  # type: ignore[misc]
        return [w.strip(".") for w, label in zip(new, labels, strict=True) if label == 0]

    assert came("pronoun")[0] in ("she", "they", "it")
    assert came("negation") in (["not"], ["never"])
    assert came("number")[0] not in ("1990", "May")


def test_a_language_model_writes_errors_where_one_is_given() -> None:
    def infill(words: Any, spans: Any, document: Any, rng: Any) -> tuple[list[str], list[int]]:
        ((a, b),) = spans
        return [*words[:a], "of", "green", "cheese", *words[b:]], [1] * a + [0, 0, 0] + [1] * (len(words) - b)

    words = "Alice was born in the town of Oslo.".split()
    rng = np.random.default_rng(0)
    assert ERRORS["written"](words, [1.0] * 8, TEXT[0], ClaimParts.of(TEXT), rng) is None
    new, labels, _ = ERRORS["written"](words, [1.0] * 8, TEXT[0], ClaimParts.of(TEXT, infill), rng)  # type: ignore[misc]
    assert [w for w, label in zip(new, labels, strict=True) if label == 0] == ["of", "green", "cheese"]


# --- evidence ---


def test_evidence_covers_what_the_first_sentence_leaves_out() -> None:
    near = np.array([[0.9, 0.85, 0.1, 0.2], [0.1, 0.1, 0.3, 0.9], [0.9, 0.85, 0.0, 0.1]])
    assert covering(near, 1) == [0]
    assert covering(near, 2) == [0, 3]  # not the second best alone
    assert covering(near, 9) == [0, 1, 2, 3]


def test_a_row_says_of_each_token_whose_it_is_and_whether_the_other_side_has_it(minilm: Encoder) -> None:
    claim, one, two = (p.ids for p in minilm.pieces(["Ann saw birds.", "Ann left.", "Birds sang."]))
    ids, sides = joined(minilm, claim, [one, two])
    assert ids == [*minilm.before, *claim, *minilm.after, *one, *minilm.after, *two, *minilm.after]
    #               mark Ann saw birds .  mark Ann left .  mark birds sang .  mark
    assert sides == [0, 0, 1, 0, 0, 0, 2, 3, 2, 2, 2, 3, 2, 2]
    ids, sides = joined(minilm, claim, [np.tile(one, 400)])
    assert len(ids) == len(sides) == 512


# --- training ---


@pytest.fixture(scope="module")
def trained(minilm: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joint")
    train(TEXT, folder, TINY, every=3)
    return folder


def test_a_step_moves_the_layers_and_both_outputs(minilm: Encoder, trained: Path) -> None:
    before, after = (
        joint_model(minilm, 4).state_dict(),
        JointWeights.load(trained / "joint", "minilm").model.state_dict(),
    )
    moved = {name for name in before if not np.allclose(before[name], after[name], atol=1e-4)}
    assert {"token.weight", "claim.weight", "side"} <= moved
    assert any(name.startswith("layers.0.") for name in moved)


def test_the_same_plan_gives_the_same_bytes_and_a_resumed_training_those_of_an_undisturbed_one(
    trained: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    train(TEXT, tmp_path, TINY, every=3, stop_after=3)
    assert not (tmp_path / "joint.safetensors").exists()
    train(TEXT, tmp_path, TINY, every=3, tell=said.append)
    assert "goes on after step 3" in said
    assert (tmp_path / "joint.safetensors").read_bytes() == (trained / "joint.safetensors").read_bytes()
    assert (tmp_path / "joint.json").read_bytes() == (trained / "joint.json").read_bytes()


def test_a_training_whose_rate_has_not_fallen_goes_on_as_a_longer_one(trained: Path, tmp_path: Path) -> None:
    train(TEXT, tmp_path, JointPlan(steps=40, batch=4), every=3, stop_after=3)
    train(TEXT, tmp_path, TINY, every=3)
    assert (tmp_path / "joint.safetensors").read_bytes() == (trained / "joint.safetensors").read_bytes()


def test_another_training_in_the_same_folder_is_refused(trained: Path) -> None:
    for plan in (JointPlan(steps=7, batch=4), JointPlan(steps=6, batch=4, seed=1)):
        with pytest.raises(NlgaugeError, match="holds another training"):
            train(TEXT, trained, plan)


def test_the_command_trains_what_ctc_uses(minilm: Encoder, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(d) for d in TEXT) + "\n", encoding="utf-8")
    out = tmp_path / "mine"
    command = ["train", "joint", "--text", str(text), "-o", str(out), "--steps", "2", "--batch", "4", "--every", "2"]
    done = CliRunner().invoke(build("train"), command)
    assert done.exit_code == 0, done.output
    assert "held out: token auc" in done.output
    batch = Batch.from_columns(["The work took six weeks."], ["The work took six weeks."], [None], [[]])
    for kind in "XS":
        assert 0 < metric_from_spec(f"ctc(align='{kind}', weights='{out}')").score(batch).values[0] < 1


# --- weights ---


def test_weights_in_whole_numbers_are_close_to_those_in_floats(minilm: Encoder, tmp_path: Path) -> None:
    """Scores of 40 claims move by less than .02, and hardly at all on average."""
    import torch

    kept = train(TEXT, tmp_path, TINY, every=6)
    again = JointWeights.load(tmp_path / "joint", "minilm")
    largest = [
        float((a - b).abs().max() / a.abs().max())
        for a, b in zip(kept.model.state_dict().values(), again.model.state_dict().values(), strict=True)
    ]
    assert 0 < max(largest) <= 0.5 / 127 + 1e-6
    ids = torch.randint(2000, 20000, (40, 60), generator=torch.Generator().manual_seed(0))
    sides = torch.randint(0, 4, (40, 60), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        moved = (torch.sigmoid(kept.model(ids, sides)[0]) - torch.sigmoid(again.model(ids, sides)[0])).abs()
    assert moved.max() < 0.02
    assert moved.mean() < 0.004


def test_weights_that_are_not_those_described_are_refused(trained: Path, tmp_path: Path) -> None:
    raw = bytearray((trained / "joint.safetensors").read_bytes())
    raw[-1] ^= 1
    (tmp_path / "joint.safetensors").write_bytes(bytes(raw))
    (tmp_path / "joint.json").write_bytes((trained / "joint.json").read_bytes())
    with pytest.raises(NlgaugeError, match=r"not the weights that joint\.json describes"):
        JointWeights.load(tmp_path / "joint", "minilm")
    with pytest.raises(NlgaugeError, match="no joint aligner at"):
        JointWeights.load(tmp_path / "elsewhere", "minilm")


def test_weights_of_another_encoder_are_refused(trained: Path, tmp_path: Path) -> None:
    facts = json.loads((trained / "joint.json").read_text())
    (tmp_path / "joint.safetensors").write_bytes((trained / "joint.safetensors").read_bytes())
    (tmp_path / "joint.json").write_text(json.dumps({**facts, "encoder": "other@1"}))
    with pytest.raises(NlgaugeError, match="trained on encoder other@1"):
        JointWeights.load(tmp_path / "joint", "minilm")


# --- as estimators ---

SOURCE = (
    "The council of Bergen opened a new bridge over the river on Monday. It took two years to build. "
    "The mayor, Anna Holm, said that the work had cost 3.5 million euros. Residents had asked for it since 1998."
)


def test_a_text_has_the_same_scores_alone_and_among_others(minilm: Encoder, trained: Path) -> None:
    pairs = [ToAlign(a, (SOURCE,)) for a in ("A bridge was opened.", "The mayor is Anna Holm. She spoke.", "Tea?")]
    for kind in "XS":
        own = Joint(kind, str(trained))
        together = own.align(pairs)
        for pair, found in zip(pairs, together, strict=True):
            alone = own.align([pair])[0]
            assert np.array_equal(alone.scores, found.scores)
            assert found.tokens == alone.tokens
            assert found.text[slice(*found.spans[0])] == found.tokens[0]


def test_s_gives_a_sentence_one_score_and_x_each_token_its_own(minilm: Encoder, trained: Path) -> None:
    pair = ToAlign("A bridge was opened. It cost 3.5 million.", (SOURCE,))
    tokens, whole = (Joint(kind, str(trained)).align([pair])[0] for kind in "XS")
    assert tokens.tokens == whole.tokens
    assert len(set(whole.scores)) == 2
    assert len(set(tokens.scores)) == len(tokens)


def test_without_a_source_nothing_is_grounded(minilm: Encoder, trained: Path) -> None:
    assert not Joint("X", str(trained)).align([ToAlign("A bridge.", ("",))])[0].scores.any()
    assert len(Joint("X", str(trained)).align([ToAlign("", (SOURCE,))])[0]) == 0


def test_what_x_and_s_are_not_for_is_said(minilm: Encoder) -> None:
    with pytest.raises(NlgaugeError, match="align='X' is for consistency"):
        metric_from_spec("ctc(aspect='relevance', align='X', weights='w')")
    with pytest.raises(NlgaugeError, match="belong to align='E'"):
        metric_from_spec("align-expr(align='X', layer=3, weights='w')")
    with pytest.raises(NlgaugeError, match="no trained layers come with the package"):
        metric_from_spec("ctc(align='S')")
    with pytest.raises(NlgaugeError, match="no joint aligner at"):
        metric_from_spec("ctc(align='X', weights='nowhere')").ready()
    with pytest.raises(NlgaugeError, match=r"X \(tokens beside their evidence"):
        align("a", "b", estimator="Q")
