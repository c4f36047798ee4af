"""Reduced precision of matrix products: '@int8' or '@bf16' after a model's name.

int8 has a scale for each token and for each row of weights, none for a batch, and its sums are exact: the vectors of a
text do not depend on the rest of its batch. bf16 rounds both factors and sums in float32. Embeddings, attention,
normalization and the layers after the encoder (a pooler, a classifier) stay float32.
"""

from __future__ import annotations

from typing import Any

from nlgauge.errors import NlgaugeError

PRECISIONS = ("int8", "bf16")


def split_precision(name: str) -> tuple[str, str]:
    """Split a model's name and its precision ('': float32).

    >>> split_precision("minilm@int8"), split_precision("models/bert@v2")
    (('minilm', 'int8'), ('models/bert@v2', ''))
    """
    base, _, precision = name.rpartition("@")
    return (base, precision) if base and precision in PRECISIONS else (name, "")


def lowered(model: Any, precision: str, name: str) -> Any:
    """Replace the linear maps in the layers of the model in place by versions with lower precision."""
    import torch

    if next(model.parameters()).device.type != "cpu":
        raise NlgaugeError(f"'{name}@{precision}': reduced precision is supported on CPUs only; omit '@{precision}'.")
    if precision == "int8":
        _check_int8(name)
    new = {"int8": _int8, "bf16": _bf16}[precision]()
    stacks = [stack for stack in model.modules() if isinstance(stack, torch.nn.ModuleList)]
    owners = {id(part): part for stack in stacks for part in stack.modules()}.values()
    for owner in owners:
        for key, child in list(owner.named_children()):
            if isinstance(child, torch.nn.Linear):
                setattr(owner, key, new(child))
    return model


def _check_int8(name: str) -> None:
    """Raise an error on a processor (without VNNI) on which sums of int8 products overflow."""
    import torch

    row = torch.full((4, 1024), -127, dtype=torch.int8)
    if not bool((torch._int_mm(row, row.t()) == 1024 * 127 * 127).all()):
        raise NlgaugeError(f"'{name}@int8': int8 products overflow on this processor; use '{name}' or '{name}@bf16'.")


def rows_as_int8(weight: Any) -> tuple[Any, Any]:
    """Quantize a matrix to integers from −127 to 127, and return them with the scale of each row."""
    import torch

    scale = weight.abs().amax(1).clamp_(min=1e-12) / 127
    return (weight / scale[:, None]).round_().to(torch.int8), scale


def _int8() -> Any:
    import threading

    import torch

    last = threading.local()  # rows of a thread's latest input

    class Int8Linear(torch.nn.Module):
        def __init__(self, of: Any) -> None:
            super().__init__()
            whole, scale = rows_as_int8(of.weight.detach())
            self.weight = whole.t().contiguous()
            self.scale, self.bias = scale / 127, None if of.bias is None else of.bias.detach()

        def forward(self, given: Any) -> Any:
            if getattr(last, "given", None) is not given:  # query, key and value take the same rows
                rows = given.reshape(-1, given.shape[-1])
                largest = rows.abs().amax(1, keepdim=True).clamp_(min=1e-12)
                last.given, last.rows = given, ((rows * (127 / largest)).round_().to(torch.int8), largest)
            whole, largest = last.rows
            result = torch._int_mm(whole, self.weight).float().mul_(largest).mul_(self.scale)
            result = result if self.bias is None else result.add_(self.bias)
            return result.view(*given.shape[:-1], -1)

    return Int8Linear


def _bf16() -> Any:
    import torch

    class Bf16Linear(torch.nn.Module):
        def __init__(self, of: Any) -> None:
            super().__init__()
            self.weight = of.weight.detach().bfloat16()
            self.bias = None if of.bias is None else of.bias.detach()

        def forward(self, given: Any) -> Any:
            result = torch.nn.functional.linear(given.bfloat16(), self.weight).float()
            return result if self.bias is None else result.add_(self.bias)

    return Bf16Linear
