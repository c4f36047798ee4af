"""ONNX models run by onnxruntime behind the interface of transformers: classifiers, question answering, NER.

Each row runs by itself and without padding: the scales of a quantized file are computed over the whole input, so rows
of one batch would change each other's values.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.models.tensors import cores

OUTPUTS = {"classifier": ("logits",), "tokens": ("logits",), "qa": ("start_logits", "end_logits")}


def onnx_file(name: str) -> Path | None:
    """Return the ONNX file that a name denotes: the file itself, or the one in a folder without safetensors."""
    path = Path(name).expanduser()
    if path.suffix == ".onnx":
        return path if path.is_file() else None
    if not path.is_dir() or any(path.glob("*.safetensors")):
        return None
    results = [path / "model.onnx", path / "onnx" / "model.onnx", *sorted(path.glob("*.onnx"))]
    return next((file for file in results if file.is_file()), None)


def check_onnx(metric: str) -> None:
    """Refuse an ONNX file where onnxruntime is not installed."""
    if importlib.util.find_spec("onnxruntime") is None:
        raise NeedsMissing(
            f"'{metric}' reads an ONNX file with the extra 'onnx' (onnxruntime is not installed): "
            'pip install "nlgauge[onnx]"'
        )


def load_onnx(kind: str, file: Path, option: str) -> tuple[Any, Any]:
    """Load tokenizer and model; the configuration files are next to the file, or one folder above it."""
    import transformers

    check_onnx(option)
    if kind not in OUTPUTS:
        raise NlgaugeError(
            f"{option}='{file}': an ONNX file can be a classifier or a question answerer; use safetensors."
        )
    folder = next((f for f in (file.parent, file.parent.parent) if (f / "config.json").is_file()), file.parent)
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).splitlines()[0][:140]
        raise NlgaugeError(f"{option}='{file}': config.json and a tokenizer must be next to it ({first}).") from None
    return tokenizer, OnnxModel(file, config, OUTPUTS[kind], option)


class OnnxModel:
    """A session that takes and gives tensors under the names that transformers uses."""

    device = "cpu"

    def __init__(self, file: Path, config: Any, wanted: Sequence[str], option: str) -> None:
        import onnxruntime

        self.config = config
        how = onnxruntime.SessionOptions()
        how.intra_op_num_threads, how.log_severity_level = cores(), 3
        try:
            self.session = onnxruntime.InferenceSession(str(file), how, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors have no common class
            raise NlgaugeError(
                f"{option}='{file}': onnxruntime cannot read it ({str(error).splitlines()[0][:140]})."
            ) from None
        outputs = [o.name for o in self.session.get_outputs()]
        # A file with other names has its outputs in the order in which transformers gives them.
        self.outputs = dict(zip(wanted, wanted if set(wanted) <= set(outputs) else outputs, strict=False))
        if len(self.outputs) < len(wanted):
            raise NlgaugeError(f"{option}='{file}': its outputs are {', '.join(outputs)}, not {', '.join(wanted)}.")
        self.inputs = {i.name for i in self.session.get_inputs()}
        widths = [i.shape[1] for i in self.session.get_inputs() if len(i.shape) == 2 and isinstance(i.shape[1], int)]
        self.width = min(widths, default=0)  # of a file made for one length only

    def __call__(self, input_ids: Any, attention_mask: Any = None, **more: Any) -> Any:
        import torch

        table = {"input_ids": input_ids.numpy(), **{k: v.numpy() for k, v in more.items()}}
        mask = np.ones_like(table["input_ids"]) if attention_mask is None else attention_mask.numpy()
        rows = [self._row({k: v[r : r + 1, : int(mask[r].sum())] for k, v in table.items()}) for r in range(len(mask))]
        results = {}
        for k, name in enumerate(self.outputs):
            # A row has one token output for each token; padding stays 0.
            longest = max(row[k].shape[1] for row in rows)
            wide = [
                np.pad(row[k], ((0, 0), (0, longest - row[k].shape[1]), *[(0, 0)] * (row[k].ndim - 2))) for row in rows
            ]
            results[name] = torch.from_numpy(np.concatenate(wide))
        return SimpleNamespace(**results)

    def _row(self, given: dict[str, Any]) -> list[Any]:
        n = given["input_ids"].shape[1]
        given = {"token_type_ids": np.zeros((1, n), np.int64), "attention_mask": np.ones((1, n), np.int64), **given}
        fill = {"input_ids": int(getattr(self.config, "pad_token_id", 0) or 0)}
        more = max(0, self.width - n)
        feed = {
            k: np.pad(v, ((0, 0), (0, more)), constant_values=fill.get(k, 0)).astype(np.int64)
            for k, v in given.items()
            if k in self.inputs
        }
        return [v.astype(np.float32) for v in self.session.run(list(self.outputs.values()), feed)]
