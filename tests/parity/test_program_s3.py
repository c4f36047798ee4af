"""The features of S3 beside summ-eval, which carries the authors' code, on published texts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from metric_texts import real_samples
from programs import agree, installed, program

from nlgauge.metrics.batch import Sample
from nlgauge.text.stopwords import STOP
from nlgauge_papers.deng2021.s3 import FEATURES, features, read_vectors


@pytest.mark.slow
def test_features_of_s3_equal_summ_eval(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("summ_eval")
    import nltk.corpus

    # nltk's word list is a file that no package carries: ours stands in.
    monkeypatch.setattr(nltk.corpus, "stopwords", SimpleNamespace(words=lambda *_: sorted(STOP)))
    theirs = program("summ_eval.s3_utils")
    monkeypatch.setattr(theirs, "stopset", STOP)
    pairs = real_samples(real_data, 12)
    rng = np.random.default_rng(3)
    words = sorted({w.lower() for o, refs in pairs for t in (o, *refs) for w in theirs.tokenizer.tokenize(t)})
    base = rng.normal(size=(60, 30))
    lines = [  # words in families, so that some are near each other; every seventh has no vector
        f"{w} {' '.join(f'{x:.5f}' for x in base[k % 60] + 0.3 * rng.normal(size=30))}"
        for k, w in enumerate(words)
        if k % 7
    ]
    file = tmp_path / "vectors"
    file.write_text("\n".join(lines) + "\n")
    embeddings = theirs.load_embeddings(str(file))
    samples = [Sample(o, "", "", tuple(refs), "") for o, refs in pairs]
    found = features(samples, STOP, lambda wanted: read_vectors(str(file), wanted))
    wanted = [theirs.extract_feature([[r] for r in refs], [o], embeddings, tokenize=True) for o, refs in pairs]
    for k, name in enumerate(FEATURES):
        agree(f"s3, {name}", found[:, k].tolist(), [w[name] for w in wanted], 1e-12)
    assert len(found) > 20
    assert (found.std(axis=0) > 0).all()
