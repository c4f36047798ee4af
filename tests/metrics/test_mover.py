"""MoverScore and XMoverScore on tiny models built from a configuration, beside POT and transformers called directly."""

from __future__ import annotations

import os
import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

os.environ.setdefault("HF_HUB_OFFLINE", "1")
PAIRS = [
    ("a cat sat on the mat", "the cat is on a mat ."),
    ("tea", "the dog ate the tea"),
    ("the dog sat", "a cat is a cat"),
]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted({w for pair in PAIRS for t in pair for w in t.split()})]
SIZE = 12
BATCH = Batch.from_columns([a for a, _ in PAIRS], [b for _, b in PAIRS], None, [[b] for _, b in PAIRS])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An encoder and a causal model of a few hundred weights, saved as safetensors."""
    for package in ("torch", "transformers", "tokenizers", "ot"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    found = {}
    with torch.random.fork_rng():
        torch.manual_seed(7)
        kinds = {
            "encoder": BertModel(
                BertConfig(
                    vocab_size=len(WORDS),
                    hidden_size=SIZE,
                    num_hidden_layers=3,
                    num_attention_heads=2,
                    intermediate_size=16,
                    max_position_embeddings=32,
                )
            ),
            "lm": GPT2LMHeadModel(
                GPT2Config(
                    vocab_size=len(WORDS),
                    n_embd=SIZE,
                    n_layer=2,
                    n_head=2,
                    n_positions=8,
                    bos_token_id=2,
                    eos_token_id=3,
                )
            ),
        }
    for name, model in kinds.items():
        folder = tmp_path_factory.mktemp(name)
        model.save_pretrained(folder)
        if name == "encoder":
            words.post_processor = processors.TemplateProcessing(
                single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
            )
        else:
            words.post_processor = None
        PreTrainedTokenizerFast(
            tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", model_max_length=32
        ).save_pretrained(folder)
        found[name] = str(folder)
    return found


def states(tiny: dict[str, str], text: str, ends: bool = False) -> list[np.ndarray]:
    """All hidden states, with or without [CLS] and [SEP]."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(tiny["encoder"]).eval()
    ids = torch.tensor([[2, *(WORDS.index(w) for w in text.split()), 3]])
    with torch.inference_mode():
        found = model(input_ids=ids, output_hidden_states=True).hidden_states
    return [(h[0] if ends else h[0, 1:-1]).double().numpy() for h in found]


def words(tiny: dict[str, str], text: str) -> list[np.ndarray]:
    """What MoverScore moves: all hidden states, punctuation left out, the ends among them."""
    used = [True, *(w not in string.punctuation for w in text.split()), True]
    return [normal(h[used]) for h in states(tiny, text, ends=True)]


def normal(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def moved(a: Any, b: Any, of_a: Any = None, of_b: Any = None, metric: str = "euclidean") -> float:
    import ot

    a, b = normal(a), normal(b)
    u = ot.unif(len(a)) if of_a is None else np.array(of_a) / np.sum(of_a)
    v = ot.unif(len(b)) if of_b is None else np.array(of_b) / np.sum(of_b)
    return 1 - float(ot.emd2(u, v, ot.dist(a, b, metric=metric)))


def scores(spec: str) -> np.ndarray:
    metric = metric_from_spec(spec)
    metric.ready()  # type: ignore[attr-defined]
    return metric.score(BATCH).values


def test_the_mean_of_layers_equals_pot(tiny: dict[str, str]) -> None:
    ours = scores(f"moverscore(encoder='{tiny['encoder']}', layers=2, combine='mean', cost='euclidean')")
    for found, pair in zip(ours, PAIRS, strict=True):
        a, b = (np.mean(words(tiny, t)[-2:], axis=0) for t in pair)
        assert found == pytest.approx(moved(a, b), abs=1e-5)


@pytest.mark.parametrize("layers", [(1, 3), 3])
def test_the_original_moves_power_means_of_layers_at_squared_distances(
    tiny: dict[str, str], layers: int | tuple[int, int]
) -> None:
    ours = scores(f"moverscore(encoder='{tiny['encoder']}', layers={layers})")
    for found, pair in zip(ours, PAIRS, strict=True):
        sides = []
        for text in pair:
            some = np.stack([words(tiny, text)[k] for k in (layers if isinstance(layers, tuple) else (1, 2, 3))])
            sides.append(np.concatenate([some.min(0), some.mean(0), some.max(0)], axis=1))
        assert found == pytest.approx(moved(*sides, metric="sqeuclidean"), abs=1e-5)


def test_the_second_program_moves_the_last_layer_at_plain_distances(tiny: dict[str, str]) -> None:
    ours = scores(f"moverscore(preset='v2', encoder='{tiny['encoder']}')")
    for found, (a, b) in zip(ours, PAIRS, strict=True):
        assert found == pytest.approx(moved(words(tiny, a)[-1], words(tiny, b)[-1]), abs=1e-5)


def test_moverscore_is_the_program_of_the_paper_by_default() -> None:
    metric = metric_from_spec("moverscore")
    assert "layers:5-power" in metric.signature and "cost:squared" in metric.signature
    assert metric.facts.bounds == (-3.0, 1.0)
    assert metric_from_spec("moverscore(preset='v2')").facts.bounds == (-1.0, 1.0)


def test_bigrams_weigh_by_the_idf_of_their_own_side(tiny: dict[str, str]) -> None:
    """Rarity among the outputs for the output, among the references for the reference; [CLS] and [SEP] weigh nothing."""
    ours = scores(f"moverscore(encoder='{tiny['encoder']}', layer=2, n=2, idf=True)")
    seen = [[set(pair[side].split()) for pair in PAIRS] for side in (0, 1)]

    def weight(word: str, side: int) -> float:
        return float(np.log((len(PAIRS) + 1) / (sum(word in s for s in seen[side]) + 1)))

    for found, pair in zip(ours, PAIRS, strict=True):
        grams, weights = [], []
        for side, text in enumerate(pair):
            rows = words(tiny, text)[2]
            kept = [t for t in text.split() if t not in string.punctuation]
            w = np.array([0.0, *(weight(t, side) for t in kept), 0.0])
            both = w[:-1] + w[1:]
            share = np.where(both, both, 1.0)
            grams.append((rows[:-1] * w[:-1, None] + rows[1:] * w[1:, None]) / share[:, None])
            weights.append(both)
        full = [np.where(np.linalg.norm(g, axis=1, keepdims=True) > 0, g, 1.0) for g in grams]
        assert found == pytest.approx(moved(*full, *weights, metric="sqeuclidean"), abs=1e-5)


@pytest.mark.parametrize("kind", ["npy", "safetensors", "map"])
def test_projection_of_the_source_equals_pot(tiny: dict[str, str], kind: str, tmp_path: Path) -> None:
    matrix = np.random.default_rng(3).normal(size=(SIZE, SIZE)).astype(np.float32)
    path = tmp_path / f"projection.{kind}"
    if kind == "npy":
        np.save(path, matrix)
    elif kind == "safetensors":
        from safetensors.numpy import save_file

        save_file({"projection": matrix}, path)
    else:
        np.savetxt(path, matrix)
    ours = scores(f"xmoverscore(encoder='{tiny['encoder']}', layer=3, clp={str(path)!r})")
    for found, (output, source) in zip(ours, PAIRS, strict=True):
        a, b = states(tiny, output)[3], states(tiny, source)[3] @ matrix
        assert found == pytest.approx(moved(a, b), abs=1e-5)


def test_removing_a_direction_equals_pot(tiny: dict[str, str], tmp_path: Path) -> None:
    bias = normal(np.random.default_rng(4).normal(size=(1, SIZE)))
    np.save(tmp_path / "bias.npy", bias)
    ours = scores(f"xmoverscore(encoder='{tiny['encoder']}', layer=1, umd={str(tmp_path / 'bias.npy')!r})")
    for found, (output, source) in zip(ours, PAIRS, strict=True):
        a, b = states(tiny, output)[1], states(tiny, source)[1]
        assert found == pytest.approx(moved(a, b - (b @ bias[0])[:, None] * bias[0]), abs=1e-5)


def test_the_language_model_adds_its_mean_log_probability(tiny: dict[str, str]) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    plain = f"xmoverscore(encoder='{tiny['encoder']}', layer=3"
    without = scores(plain + ")")
    metric = metric_from_spec(plain + f", lm='{tiny['lm']}', lm_weight=0.5)")
    found = metric.score(BATCH)
    model = AutoModelForCausalLM.from_pretrained(tiny["lm"]).eval()
    for i in (0, 2):
        ids = torch.tensor([[WORDS.index(w) for w in PAIRS[i][0].split()]])
        with torch.inference_mode():
            loss = float(model(ids, labels=ids).loss)
        assert found.values[i] == pytest.approx(without[i] - 0.5 * loss, abs=1e-5)
    assert np.isnan(found.values[1])
    assert found.reasons == {1: "one token only: the language model has no context"}
    assert metric.facts.bounds[0] == -np.inf


def test_a_text_longer_than_the_language_model_is_read_in_windows(tiny: dict[str, str]) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    from nlgauge.models.causal import likelihood

    words = ("a cat sat on the mat the dog ate tea is " * 2).split()
    ids = [WORDS.index(w) for w in words]
    model = AutoModelForCausalLM.from_pretrained(tiny["lm"]).eval()
    total, end = 0.0, 0
    # The model takes 8 tokens: the first 8, then 4 new ones with the 4 before them, and so on.
    while end < len(ids):
        new = min(8 if end == 0 else end + 4, len(ids))
        window = torch.tensor([ids[max(0, new - 8) : new]])
        with torch.inference_mode():
            scores = torch.log_softmax(model(window).logits[0, :-1], dim=-1)
        each = scores[torch.arange(window.shape[1] - 1), window[0, 1:]]
        total += float(each[-(new - end) if end else 0 :].sum())
        end = new
    (told,) = likelihood(tiny["lm"]).told([("", " ".join(words))], start=False)
    assert told.mean == pytest.approx(total / (len(ids) - 1), abs=1e-5)
    assert told.windows


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("moverscore(n=0)", r"n must be 1 .* got 0"),
        ("moverscore(combine='max')", "combine must be mean or power"),
        ("moverscore(cost='cosine')", "cost must be euclidean or squared"),
        ("moverscore(preset='v3')", "preset must be original or v2"),
        ("moverscore(layer=3, layers=2)", "not both"),
        ("xmoverscore(clp='a.npy', umd='b.npy')", "not both"),
        ("xmoverscore(encoder='minilm', clp='nowhere.npy')", "clp='nowhere.npy': no such file"),
        ("xmoverscore(encoder='minilm', lm='./nowhere')", "lm='./nowhere': no such folder"),
    ],
)
def test_wrong_options_are_one_clear_line(spec: str, said: str, tiny: dict[str, str]) -> None:
    with pytest.raises(NlgaugeError, match=said):
        metric_from_spec(spec).ready()  # type: ignore[attr-defined]


def test_a_matrix_of_another_size_is_one_clear_line(tiny: dict[str, str], tmp_path: Path) -> None:
    np.save(tmp_path / "small.npy", np.eye(3))
    with pytest.raises(NlgaugeError, match=r"shape \(3, 3\); needs 12 rows"):
        scores(f"xmoverscore(encoder='{tiny['encoder']}', clp={str(tmp_path / 'small.npy')!r})")


def test_a_pickled_matrix_is_not_read(tiny: dict[str, str], tmp_path: Path) -> None:
    np.save(tmp_path / "bad.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(NlgaugeError, match="not a matrix of numbers"):
        scores(f"xmoverscore(encoder='{tiny['encoder']}', clp={str(tmp_path / 'bad.npy')!r})")
