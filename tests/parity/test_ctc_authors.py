"""The authors' D and R against the program of the authors (ctc_score), on the same tiny checkpoints.

ctc_score is not among the packages for development (it asks for cleantext and for nltk's stop words); where it is
installed: pip install --no-deps ctc_score cleantext, and nltk's stop words.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge.metrics.alignment import align
from nlgauge.models.torch_weights import ASKED

sys.path.insert(0, str(Path(__file__).parent.parent / "alignment"))
pytestmark = pytest.mark.filterwarnings("ignore::nlgauge.models.torch_weights.TorchWeights")
TEXTS = ["McConaughey  was seen in the Rain.", "the “director” will wait for hours", "hours", "He was İn the rain, ß"]


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Any:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv(ASKED, "1")
    pytest.importorskip("cleantext", reason="ctc_score is not installed (cleantext)")
    try:
        from ctc_score.models import bleurt_aligner_pt, discriminative_aligner  # type: ignore[import-not-found]
    except (ImportError, LookupError) as error:  # the program itself, or nltk's stop words
        pytest.skip(f"ctc_score cannot be run here: {str(error).strip().splitlines()[0]}")
    return torch, discriminative_aligner, bleurt_aligner_pt


def test_d_equals_ctc_score(theirs: Any, tmp_path: Path) -> None:
    from tiny_authors import SAID, roberta
    from transformers import AutoTokenizer

    torch, module, _ = theirs
    base, model, state = roberta(tmp_path / "base")
    torch.save(state, tmp_path / "d.ckpt")
    program = module.DiscriminativeAligner.__new__(module.DiscriminativeAligner)  # its __init__ fetches roberta-large
    torch.nn.Module.__init__(program)
    program._aggr_type, program._device, program._space_char = "mean", "cpu", "Ġ"
    program._roberta, program._classifier = model, torch.nn.Linear(24, 2)
    program._tokenizer = AutoTokenizer.from_pretrained(base)
    program._bos_id = program._tokenizer.bos_token_id
    program.load_state_dict({k: v for k, v in state.items() if not k.endswith("position_ids")})
    program.eval()
    for text in TEXTS:
        words, wanted = program.align(text, SAID)
        found = align(text, SAID, estimator="D", weights=str(tmp_path / "d.ckpt"), encoder=base)
        assert len(found) == len(words)
        assert np.allclose(found.scores, wanted, rtol=0, atol=1e-6)
        assert found.mean() == pytest.approx(program.get_score(text, SAID, remove_stopwords=False), abs=1e-6)


def test_r_equals_ctc_score(theirs: Any, tmp_path: Path) -> None:
    from tiny_authors import bert
    from transformers import AutoConfig, AutoTokenizer

    torch, _, module = theirs
    base, _, state = bert(tmp_path / "base")
    torch.save(state, tmp_path / "r.ckpt")
    program = module.BLEURTAligner.__new__(module.BLEURTAligner)  # its __init__ fetches bert-base-uncased
    program._aggr_type, program.device = None, "cpu"
    program.bleurt_model = module.BleurtModel(AutoConfig.from_pretrained(base)).eval()
    program.bleurt_model.load_state_dict(state, strict=False)
    program.tokenizer = AutoTokenizer.from_pretrained(base)
    for text, context in (("the cat sat on the mat .", "a dog ran"), ("tea", "the cat is near the park .")):
        wanted = program.get_score(text, context, remove_stopwords=True)
        found = align(text, context, estimator="R", weights=str(tmp_path / "r.ckpt"), encoder=base)
        assert found.mean() == found.sum() == pytest.approx(wanted, abs=1e-6)
