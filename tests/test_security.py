"""What SECURITY.md promises, checked: nothing from data runs, nothing is unpacked without bound, nothing private
leaks.
"""

from __future__ import annotations

import ast
import gzip
import io
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from loops import for_each
from nlgauge.data import files
from nlgauge.datasets import entries
from nlgauge.datasets.download import inside
from nlgauge.datasets.origins import parts
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.secret import Secret
from nlgauge.metrics.judge.task import filled, load_task
from nlgauge.scoring.store import Store, StoredScore
from nlgauge.spec import parse_spec
from source_tree import nodes

SRC = Path(__file__).resolve().parent.parent / "src" / "nlgauge"
MODULES = sorted(SRC.rglob("*.py"))
PICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "_pickle"}
# What runs code, or may: by the end of the called name.
RUNS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "yaml.load",
    "yaml.unsafe_load",
    "yaml.full_load",
}
UNPACKS = {"extractall", "extract", "unpack_archive"}
# Options whose value decides whether a call is safe.
OPTIONS = {
    "allow_pickle", "autoescape", "gguf_file", "shell", "trust_remote_code", "use_safetensors", "weights_only",
}  # fmt: skip


def dotted(node: ast.expr) -> str:
    """The names of what is called, such as `np.load`; what is no name stands as `?`."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield dotted(node.func), node


def given(call: ast.Call) -> dict[str, str]:
    return {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg in OPTIONS}


@for_each(MODULES, name=lambda p: p.relative_to(SRC))
def test_no_module_can_run_what_it_reads(path: Path) -> None:
    for node in nodes(path):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {n.split(".")[0] for n in names} & PICKLES
    for name, call in calls(path):
        said = given(call)
        assert name not in RUNS, f"line {call.lineno}: {name}"
        text = ".str." in name  # polars takes a part of a text
        assert text or name.rpartition(".")[2] not in UNPACKS, (
            f"line {call.lineno}: archives are read, never unpacked to disk"
        )
        assert said.get("shell", "False") == "False", f"line {call.lineno}: a shell"
        assert said.get("allow_pickle", "False") == "False"
        assert said.get("trust_remote_code", "False") == "False"
        assert said.get("autoescape", "True") == "True"
        if name.endswith("torch.load"):
            assert said.get("weights_only") == "True", f"line {call.lineno}"
        if name in ("np.load", "numpy.load"):
            assert said.get("allow_pickle") == "False", f"line {call.lineno}"
        if name.endswith("Environment") and "jinja2" in path.read_text(encoding="utf-8"):
            assert said.get("autoescape") == "True", f"line {call.lineno}"


def test_models_are_loaded_as_safetensors_or_tensors_only_and_without_remote_code() -> None:
    loads = [
        (path.name, call.lineno, name, given(call))
        for path in MODULES
        for name, call in calls(path)
        if name.endswith(".from_pretrained") and "gguf_file" not in given(call)
    ]
    assert len(loads) >= 2
    for where, line, name, said in loads:
        assert said.get("trust_remote_code") == "False", f"{where}, line {line}"
        if "Tokenizer" not in name and "Config" not in name:
            asked_for = where == "torch_weights.py" and said.get("weights_only") == "True"
            assert said.get("use_safetensors") == "True" or asked_for, f"{where}, line {line}"


@pytest.mark.slow
def test_a_model_folder_with_pickled_weights_only_is_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from nlgauge.models.loading import load

    transformers.BertConfig(vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1).save_pretrained(
        tmp_path
    )
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n")
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(NlgaugeError, match="safetensors"):
        load("masked", str(tmp_path))


@pytest.mark.parametrize(
    "text", ["f(a=__import__('os'))", "f(a=(lambda: 0)())", "f(a=open('x'))", "f(**{'a': 1})", "f(a=f'{1}')"]
)
def test_a_spec_is_never_evaluated(text: str) -> None:
    with pytest.raises(NlgaugeError, match="plain values"):
        parse_spec(text)


@pytest.mark.parametrize("name", ["x.pkl", "x.csv", "x.csv.gz"])
def test_a_pickle_is_refused_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    raw = b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93."
    path = tmp_path / name
    path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    with pytest.raises(NlgaugeError, match="can run code"):
        ng.load(path)


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    packer, block = zlib.compressobj(9, wbits=31), b"a,b\n" * (1 << 18)
    packed = b"".join(packer.compress(block) for _ in range(100)) + packer.flush()
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(packed)
    assert len(packed) < 1 << 19  # 100 MiB in half a MiB
    with pytest.raises(NlgaugeError, match="decompression bomb"):
        ng.load(path)


def test_a_parquet_bomb_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    out = io.BytesIO()
    pl.select(a=pl.repeat(1, 20_000_000, dtype=pl.Int8)).write_parquet(out)
    path = tmp_path / "bomb.parquet"
    path.write_bytes(out.getvalue())
    assert len(out.getvalue()) < 1 << 17
    with pytest.raises(NlgaugeError, match="decompression bomb"):
        ng.load(path)


def test_a_file_larger_than_allowed_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    path = tmp_path / "large.csv"
    path.write_bytes(b"a,b\n" * (1 << 19))
    with pytest.raises(NlgaugeError, match=r"large\.csv: 2 MiB exceed the limit of 1 MiB \(NLGAUGE_MAX_BYTES\)"):
        ng.load(path)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a\\..\\x", "c:x", "", "."])
def test_a_path_that_leads_out_of_the_data_folder_is_refused(tmp_path: Path, path: str) -> None:
    if path == ".":
        assert inside(tmp_path, "a/b.csv") == tmp_path / "a" / "b.csv"
        return
    with pytest.raises(NlgaugeError, match=" is outside of "):
        inside(tmp_path, path)


def test_a_link_that_leads_out_of_the_data_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "link").symlink_to(tmp_path)
    with pytest.raises(NlgaugeError, match=" is outside of "):
        inside(tmp_path / "mirror", "link/x.csv")


def test_every_file_of_the_catalogue_stays_inside_and_has_its_hash(tmp_path: Path) -> None:
    listed = [f for e in entries() for f in e.files]
    assert listed
    for file in listed:
        inside(tmp_path, file.path)
        pieces = [piece for pattern in file.parts for piece in parts(pattern)]  # of origins, for a converter
        checked = pieces and all(len(piece.sha256) == 64 or len(piece.blob) == 40 for piece in pieces)
        user_fetches = file.where and not file.downloadable
        assert len(file.sha256) == 64 or checked or user_fetches, file.path


def test_a_judge_task_cannot_grow_without_bound(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    names = "abcdefghijk"
    lines = [f"  {b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise(names)]
    path = tmp_path / "laughs.yaml"
    path.write_text("\n".join(["task: t", "aspects:", "  a: &a [x, x, x]", *lines]))
    with pytest.raises(NlgaugeError, match="found a list or a mapping, expected text or a number"):
        load_task(str(path))


@pytest.mark.parametrize(
    "tag",
    [
        "python/object/apply:os.mkdir [ran]",
        "python/object/new:os.mkdir [ran]",
        "python/name:os.system",
        "python/module:os",
    ],
)
def test_a_judge_task_makes_no_objects(tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("yaml")
    monkeypatch.chdir(tmp_path)
    Path("task.yaml").write_text(f"task: !!{tag}\naspects: {{a: b}}\n")
    with pytest.raises(NlgaugeError, match=r"task\.yaml") as refused:
        load_task("task.yaml")
    assert "\n" not in str(refused.value) and not Path("ran").exists()


def test_a_text_is_no_template_of_a_prompt() -> None:
    text = "{scale} {aspect} {output} {0} {output.__class__} {{x}} %s $HOME"
    prompt = filled("Rate {output} for {aspect} from {scale}.", output=text, aspect="{output}", scale="1-5")
    assert prompt.text == f"Rate {text} for {{output}} from 1-5."


def test_a_key_does_not_show_itself() -> None:
    key = Secret("sk-very-secret", "a test")
    for text in (repr(key), str(key), f"{key}", key.hide("no such key: sk-very-secret")):
        assert "very-secret" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="rights are another thing there")
def test_the_store_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    store = Store(tmp_path / "deep" / "scores.sqlite")
    store.put("m|version:1", {b"k": StoredScore(0.5)})
    there = [p for p in store.path.parent.iterdir() if p.name.startswith(store.path.name)]
    assert len(there) > 1  # with its side files
    assert {stat.S_IMODE(p.stat().st_mode) for p in there} == {0o600}
    store.close()


PROMISES = [
    line.split(" | ") for line in (SRC.parents[1] / "SECURITY.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| guarantee", "| ---"))
]  # fmt: skip


@for_each(PROMISES, name=lambda cells: cells[0])
def test_each_promise_names_tests_that_exist(cells: list[str]) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", cells[-1])
    assert named and len(cells) == 3
    for file, test in named:
        path = SRC.parents[1] / file
        assert path.is_file(), file
        assert any(isinstance(node, ast.FunctionDef) and node.name == test for node in nodes(path)), f"{file}::{test}"


CONNECTS = {"httpx2", "urllib.request", "http.client", "requests", "socket", "huggingface_hub", "aiohttp"}
MAY_CONNECT = {
    "data/services/_http.py": "a service that the user names as mlflow://, phoenix:// or langfuse://",
    "datasets/download.py": "nlgauge data get",
    "engines_ray.py": "the cluster that RAY_ADDRESS names",
    "metrics/judge/client.py": "judges",
    "models/loading.py": "a model that the user names",
    "report/explorer/app.py": "a server on loopback",
    "scoring/stream.py": "the name of this machine",
    "writing.py": "the name of this machine",
}


def test_only_known_modules_open_connections() -> None:
    imports = {}
    for path in MODULES:
        names = {a.name for node in nodes(path) if isinstance(node, ast.Import) for a in node.names}
        names |= {node.module or "" for node in nodes(path) if isinstance(node, ast.ImportFrom)}
        if used := names & CONNECTS:
            imports[path.relative_to(SRC).as_posix()] = used
    assert imports.keys() == MAY_CONNECT.keys(), imports


def test_the_explorer_listens_on_loopback_only() -> None:
    from nlgauge.report.explorer import app

    bound = [ast.unparse(call.args[0]) for name, call in calls(Path(app.__file__)) if name.endswith(".bind")]
    assert bound == ["('127.0.0.1', port)"]
