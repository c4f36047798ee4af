"""Trained aligners: they learn, twice the same, resumed the same, and answer as estimators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from little_text import documents
from two_texts import align

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.alignment.alignments import ToAlign
from nlgauge.metrics.alignment.features import NAMES, FeatureReader, pooled
from nlgauge.metrics.alignment.head import Head, fresh, gradient
from nlgauge.metrics.alignment.trained import FORMS, WEIGHTS, Trained, scores
from nlgauge.metrics.alignment.training import AlignerPlan, auc, train
from nlgauge.metrics.alignment.training_rows import Data, by_text, read_documents
from nlgauge.models.encoder import Encoder

TINY = AlignerPlan("D", "style", count=60, steps=120, batch=128)
SOURCE = "The bridge over the river was closed in 1990. Alice Brandt rebuilt it for the town."


@pytest.fixture(scope="module")
def trained(minilm: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aligner")
    train(documents(), folder, TINY, checkpoints=4)
    return folder


def test_a_tiny_training_beats_chance_on_held_out_documents(trained: Path) -> None:
    told = Head.load(trained / "aligner").facts["held out"]
    assert told["auc"] > 0.7
    assert told["accuracy"] > told["always"]


def test_the_same_seed_gives_the_same_weights(trained: Path, tmp_path: Path) -> None:
    train(documents(), tmp_path, TINY, checkpoints=4, features=trained)
    assert (tmp_path / "aligner.safetensors").read_bytes() == (trained / "aligner.safetensors").read_bytes()


def test_a_resumed_training_equals_an_undisturbed_one(trained: Path, tmp_path: Path) -> None:
    train(documents(), tmp_path, TINY, checkpoints=4, features=trained, stop_after=60)
    assert not (tmp_path / "aligner.safetensors").exists()
    said: list[str] = []
    train(documents(), tmp_path, TINY, checkpoints=4, features=trained, tell=said.append)
    assert "resumes after step 60" in said
    assert (tmp_path / "aligner.safetensors").read_bytes() == (trained / "aligner.safetensors").read_bytes()


def test_another_training_in_the_same_folder_is_refused(trained: Path) -> None:
    with pytest.raises(NlgaugeError, match="contains another training"):
        train(documents(), trained, AlignerPlan("D", "style", count=60, steps=120, batch=64))


def test_smooth_labels_make_a_less_certain_head(trained: Path, tmp_path: Path) -> None:
    """With labels of .3 and .7 for 0 and 1, the mean of what a fitted head says for them lies near these."""
    from safetensors.numpy import load_file

    unsure = train(documents(), tmp_path, replace(TINY, smooth=0.3), features=trained)
    sure = Head.load(trained / "aligner")
    rows = Data(**load_file(next(trained.glob("features-train-*.safetensors")))).rows
    assert np.ptp(sure(rows)) > 0.9
    assert np.quantile(unsure(rows), [0.1, 0.9]) == pytest.approx([0.3, 0.7], abs=0.12)


def test_the_gradient_is_that_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 5)).astype(np.float32)
    wanted, weight = rng.random(40).astype(np.float32), rng.uniform(0.2, 1, 40).astype(np.float32)
    state = {k: v.astype(np.float64) for k, v in fresh(rows, rng).items()}

    def loss() -> float:
        p = np.clip(Head(state, {})(rows).astype(np.float64), 1e-9, 1 - 1e-9)
        return float(-(weight * (wanted * np.log(p) + (1 - wanted) * np.log(1 - p))).sum() / weight.sum())

    found = gradient(state, rows, wanted, weight)
    for name, at in (("w0", (1, 3)), ("w1", (2, 2)), ("w2", (4, 0)), ("b1", (0,))):
        old = state[name][at]
        state[name][at] = old + 1e-2
        up = loss()
        state[name][at] = old - 1e-2
        down = loss()
        state[name][at] = old
        assert found[name][at] == pytest.approx((up - down) / 2e-2, abs=2e-3)


def test_auc_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    wanted, said = rng.integers(0, 2, 300), rng.integers(0, 20, 300) / 20
    assert auc(wanted, said) == pytest.approx(metrics.roc_auc_score(wanted, said))


def test_features_of_a_copy_say_that_all_is_found(minilm: Encoder) -> None:
    ((_, spans, rows),) = FeatureReader().read([ToAlign("Alice Brandt rebuilt it for the town.", (SOURCE,), True)])
    assert rows.shape == (len(spans), len(NAMES))
    assert np.isfinite(rows).all()
    words = rows[rows[:, NAMES.index("mark")] == 0]
    assert (words[:, NAMES.index("word")] == 1).all()
    assert (words[1:-1, NAMES.index("triple")] == 1).all()
    assert rows[:, NAMES.index("best3")].min() > 0.3


def test_features_do_not_depend_on_capitals_or_neighbours(minilm: Encoder) -> None:
    pair, other = ToAlign("Prices rose in Oslo.", (SOURCE,)), ToAlign("Tea is hot.", ("Tea.",))
    one = next(rows for _, _, rows in FeatureReader().read([pair]))
    both = {i: rows for i, _, rows in FeatureReader().read([other, pair])}[1]
    small = next(rows for _, _, rows in FeatureReader().read([ToAlign(pair.a.lower(), (SOURCE,))]))
    np.testing.assert_allclose(one, both, atol=1e-4)
    np.testing.assert_allclose(one, small, atol=1e-4)


def test_d_scores_tokens_and_r_the_whole_text(trained: Path, tmp_path: Path) -> None:
    d = align("Alice Brandt sold a railway.", SOURCE, estimator="D", weights=str(trained))
    assert len(set(d.scores.tolist())) > 1
    assert ((d.scores >= 0) & (d.scores <= 1)).all()
    train(documents(), tmp_path, AlignerPlan("R", "style", count=60, steps=60, batch=32), features=trained)
    r = align("Alice Brandt sold a railway.", SOURCE, estimator="R", weights=str(tmp_path))
    assert len(set(r.scores.tolist())) == 1
    assert r.spans.tolist() == d.spans.tolist()
    ((_, _, rows),) = FeatureReader().read([ToAlign("Alice Brandt sold a railway.", (SOURCE,))])
    assert r.mean() == pytest.approx(float(Head.load(tmp_path / "aligner")(pooled(rows)[None])[0]))


def test_nothing_is_grounded_in_an_empty_text(trained: Path) -> None:
    assert Trained("D", weights=str(trained)).align([ToAlign("Tea is hot.", ("",))])[0].scores.tolist() == [0.0] * 4


def test_r_learns_the_share_of_aligned_words() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(6, 1)
    data = Data(
        rows,
        np.array([1, 0, 1, 1, 0, 0], np.float32),
        np.array([1, 1, 0.25, 1, 1, 1], np.float32),
        np.array([0, 0, 0, 1, 1, 1]),
    )
    found = by_text(data)
    assert found.wanted.tolist() == pytest.approx([1.25 / 2.25, 1 / 3])


@pytest.mark.parametrize("kind", ["D", "R"])
@pytest.mark.parametrize("aspect", sorted(FORMS))
def test_every_aspect_has_a_shipped_aligner_that_works_on_first_use(minilm: Encoder, aspect: str, kind: str) -> None:
    batch = Batch.from_columns(
        ["Alice Brandt rebuilt the bridge.", "A whale sang to seven green pilots."],
        [SOURCE] * 2,
        ["Alice Brandt likes the bridge."] * 2,
        [["Alice Brandt rebuilt the bridge for the town."]] * 2,
    )
    metric = metric_from_spec(f"ctc(aspect='{aspect}', align='{kind}')")
    good, bad = metric.score(batch).values.tolist()
    assert np.isfinite([good, bad]).all()
    if kind == "D":
        assert good > bad
    assert f"align:{kind}" in metric.signature


def test_the_shipped_weights_are_small_and_described() -> None:
    assert (WEIGHTS / "README.md").is_file()
    assert sum(p.stat().st_size for p in WEIGHTS.iterdir()) < 2_000_000


def test_scores_of_the_metric_are_those_of_the_head(minilm: Encoder) -> None:
    y = "Alice Brandt rebuilt the bridge."
    ((_, _, rows),) = FeatureReader().read([ToAlign(y, (SOURCE,))])
    head = Trained("D", "summarization").heads()[0]
    found = align(y, SOURCE, estimator="D")
    np.testing.assert_allclose(found.scores, scores(head, rows), atol=1e-5)


def test_bad_input_is_one_clear_line(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match=r"kind must be 'D' .* got 'X'"):
        AlignerPlan(kind="X")
    with pytest.raises(NlgaugeError, match=r"smooth must be at least 0 and less than 0\.5; got 0\.5"):
        AlignerPlan(smooth=0.5)
    with pytest.raises(NlgaugeError, match="no aligner found at"):
        align("a", "b", estimator="D", weights=str(tmp_path))
    with pytest.raises(NlgaugeError, match=r"align='R': .* is an aligner of kind D"):
        align("a", "b", estimator="R", weights=str(trained))
    with pytest.raises(NlgaugeError, match="layer belong to align='E'"):
        metric_from_spec("ctc(align='D', layer=3)")
    with pytest.raises(NlgaugeError, match="weights belong to align='D' or 'R'"):
        metric_from_spec("ctc(weights='x')")
    (tmp_path / "short.txt").write_text("One.\nTwo.\n")
    with pytest.raises(NlgaugeError, match="2 documents; expected one per line, at least 4"):
        read_documents(tmp_path / "short.txt")
    (tmp_path / "bad.jsonl").write_text('{"words": 1}\n')
    with pytest.raises(NlgaugeError, match=r"line 1: expected a JSON object with a field 'text'"):
        read_documents(tmp_path / "bad.jsonl")
