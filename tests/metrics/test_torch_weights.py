"""Weights in PyTorch's own format: refused unless asked for, then read as tensors only, with a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import build

from nlgauge.api.installation import environment
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models.loading import fingerprint, load_fresh
from nlgauge.models.torch_weights import ASKED, TorchWeights, read_torch

torch = pytest.importorskip("torch", reason="extra 'neural' is not installed (torch)")
TEXTS = ["the cat sat on the mat .", "a dog ran"]


class Evil:
    """What a pickle may be: a call."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.path),))


def states(folder: Path) -> Any:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def pickled(folder: Path, name: str = "pytorch_model.bin", **more: Any) -> Path:
    """The folder with its weights as torch.save writes them, and nothing else."""
    torch.save({**states(folder), **more}, folder / name)
    (folder / "model.safetensors").unlink()
    return folder


def perplexities(folder: Path) -> Any:
    return metric_from_spec(f"perplexity(lm={str(folder)!r})").score(Batch.from_columns(TEXTS)).values


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASKED, "1")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "last.ckpt"])
def test_refused_before_any_work_unless_asked_for(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = pickled(Path(build("gpt2", tmp_path)), name)
    metric = metric_from_spec(f"perplexity(lm={str(folder)!r})")
    for value in (None, "", "0"):
        monkeypatch.delenv(ASKED, raising=False) if value is None else monkeypatch.setenv(ASKED, value)
        with pytest.raises(NlgaugeError, match=rf"pickle.*{ASKED}=1.*save_pretrained"):
            metric.ready()
        with pytest.raises(NlgaugeError, match=rf"{ASKED}=1"):
            load_fresh("causal", str(folder))


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "last.ckpt"])
def test_asked_for_the_scores_are_those_of_the_safetensors(name: str, tmp_path: Path) -> None:
    safe = Path(build("gpt2", tmp_path / "safe"))
    other = pickled(Path(build("gpt2", tmp_path / "other")), name)
    with pytest.warns(TorchWeights, match="weights-only"):
        found = perplexities(other)
    assert np.array_equal(found, perplexities(safe))
    assert found[0] != found[1]


@pytest.mark.usefixtures("asked")
def test_a_trainings_checkpoint_holds_the_model_as_a_part(tmp_path: Path) -> None:
    folder = Path(build("masked", tmp_path))
    inside = {f"model.{k}": v for k, v in states(folder).items()}
    safe = load_fresh("masked", str(folder))[1].state_dict()
    torch.save({"epoch": 3, "state_dict": {**inside, "loss.weight": torch.ones(2)}}, folder / "epoch=3.ckpt")
    (folder / "model.safetensors").unlink()
    torch.save({"steps": 9}, folder / "training_args.bin")  # no weights
    with pytest.warns(TorchWeights):
        found = load_fresh("masked", str(folder))[1].state_dict()
    assert all(torch.equal(found[k], v) for k, v in safe.items())


@pytest.mark.usefixtures("asked")
def test_several_shards(tmp_path: Path) -> None:
    safe = perplexities(Path(build("gpt2", tmp_path / "safe")))
    folder = Path(build("gpt2", tmp_path / "shards"))
    given = states(folder)
    place = {key: f"pytorch_model-0000{1 + i % 2}-of-00002.bin" for i, key in enumerate(given)}
    for name in set(place.values()):
        torch.save({k: v for k, v in given.items() if place[k] == name}, folder / name)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": place}))
    (folder / "model.safetensors").unlink()
    with pytest.warns(TorchWeights):
        assert np.array_equal(perplexities(folder), safe)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("name", ["pytorch_model.bin", "last.ckpt"])
@pytest.mark.filterwarnings("ignore::nlgauge.models.torch_weights.TorchWeights")
def test_a_malicious_file_is_refused_and_nothing_of_it_runs(name: str, tmp_path: Path) -> None:
    folder, made = Path(build("gpt2", tmp_path / "model")), tmp_path / "made"
    pickled(folder, name, evil=Evil(made))
    with pytest.raises(NlgaugeError, match=r"more than tensors \(it names posix\.mkdir\) and was refused"):
        load_fresh("causal", str(folder))
    with pytest.raises(NlgaugeError, match="more than tensors"):
        read_torch(folder / name, "weights='x'")
    assert not made.exists()
    torch.load(folder / name, weights_only=False)  # it would have
    assert made.exists()


@pytest.mark.usefixtures("asked")
@pytest.mark.filterwarnings("ignore::nlgauge.models.torch_weights.TorchWeights")
def test_files_that_are_not_what_they_should_be_get_one_line(tmp_path: Path) -> None:
    folder = Path(build("gpt2", tmp_path))
    given = states(folder)
    (folder / "model.safetensors").unlink()
    for name, content, said in [
        ("a.pt", {"wte": torch.ones(2)}, "not the model of config.json"),
        ("b.pt", [1, 2], "no table of tensors"),
        ("c.pt", {**given, "transformer.wte.weight": torch.ones(2, 2)}, r"does not fit config\.json"),
        ("d.pt", b"", "broken, of another format"),
    ]:
        torch.save(content, folder / name) if content != b"" else (folder / name).write_bytes(b"no")
        with pytest.raises(NlgaugeError, match=said):
            load_fresh("causal", str(folder))
        (folder / name).unlink()
    for name in ("a.pt", "b.pt"):
        torch.save(given, folder / name)
    with pytest.raises(NlgaugeError, match=r"a\.pt, b\.pt; found several"):
        load_fresh("causal", str(folder))


def test_other_weights_have_another_fingerprint(tmp_path: Path) -> None:
    folders = [Path(build("gpt2", tmp_path / str(seed) / "same", seed=seed)) for seed in (1, 2)]
    assert len({fingerprint(str(pickled(folder))) for folder in folders}) == 2


@pytest.mark.usefixtures("asked")
def test_the_head_of_summac_conv_as_its_authors_publish_it(tmp_path: Path) -> None:
    from nlgauge.metrics.learned.entailment import conv_head

    shapes = {"mlp.weight": (1, 23), "mlp.bias": (1,), "layer_final.weight": (2, 3), "layer_final.bias": (2,)}
    given = {name: torch.randn(shape) for name, shape in shapes.items()}
    torch.save(given, tmp_path / "conv.bin")
    with pytest.warns(TorchWeights):
        found = conv_head(str(tmp_path / "conv.bin"))
    assert all(np.allclose(a, b) for a, b in zip(found, given.values(), strict=True))


@pytest.mark.slow
def test_a_model_of_the_hubs_cache(tmp_path: Path) -> None:
    home = tmp_path / "hub" / "models--some--model"
    folder = home / "snapshots" / ("a" * 40)
    folder.mkdir(parents=True)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("a" * 40)
    safe = perplexities(Path(build("gpt2", folder)))
    pickled(folder)
    # One process for both settings, because starting torch takes most of the time.
    code = (
        "import os, sys\n"
        "from nlgauge.errors import NlgaugeError\n"
        "from nlgauge.metrics import Batch, metric_from_spec\n"
        f"batch = Batch.from_columns({TEXTS!r})\n"
        "for value in ('0', '1'):\n"
        f"    os.environ[{ASKED!r}] = value\n"
        "    print('setting', value, file=sys.stderr)\n"
        "    try:\n"
        "        print(metric_from_spec(\"perplexity(lm='some/model')\").score(batch).values.tolist())\n"
        "    except NlgaugeError as error:\n"
        "        print('refused'); print(error, file=sys.stderr)\n"
    )
    env = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    refused, values = ran.stdout.splitlines()
    assert refused == "refused"
    assert json.loads(values) == pytest.approx(safe.tolist())
    for message in ran.stderr.split("setting")[1:]:
        assert "weights-only loading" in message and f"{ASKED}=1" in message


def test_doctor_says_that_it_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ASKED, raising=False)
    assert not [row for row in environment().rows if row["what"] == "pickled weights"]
    monkeypatch.setenv(ASKED, "1")
    assert [row for row in environment().rows if row["what"] == "pickled weights"]
