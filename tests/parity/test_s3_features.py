"""The features of S3 against the program in summ_eval, which carries the authors' code.

summ_eval is not among the packages for development (it asks for spaCy and much more); where it is installed:
pip install --no-deps summ-eval six, and nltk's stop words.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from metric_texts import real_samples

from nlgauge.metrics.batch import Sample
from nlgauge.metrics.learned.s3 import FEATURES, features, read_vectors


@pytest.mark.slow
def test_features_equal_those_of_summ_eval(real_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("six", reason="summ_eval is not installed (six)")
    pytest.importorskip("nltk")
    try:
        from summ_eval import s3_utils  # type: ignore[import-not-found]
    except (ImportError, LookupError) as error:
        pytest.skip(f"summ_eval cannot be run here: {str(error).strip().splitlines()[0]}")
    pairs = real_samples(real_data, 12)
    rng = np.random.default_rng(3)
    words = sorted({w.lower() for o, refs in pairs for t in (o, *refs) for w in s3_utils.tokenizer.tokenize(t)})
    base = rng.normal(size=(60, 30))
    lines = [  # words in families, so that some are near each other; every seventh has no vector
        f"{w} {' '.join(f'{x:.5f}' for x in base[k % 60] + 0.3 * rng.normal(size=30))}"
        for k, w in enumerate(words)
        if k % 7
    ]
    file = tmp_path / "vectors"
    file.write_text("\n".join(lines) + "\n")
    embeddings = s3_utils.load_embeddings(str(file))
    samples = [Sample(o, "", "", tuple(refs), "") for o, refs in pairs]
    found = features(samples, s3_utils.stopset, lambda wanted: read_vectors(str(file), wanted))
    for row, (output, references) in zip(found, pairs, strict=True):
        wanted = s3_utils.extract_feature([[r] for r in references], [output], embeddings, tokenize=True)
        assert [*row] == pytest.approx([wanted[name] for name in FEATURES], abs=1e-12)
    assert len(found) > 20
