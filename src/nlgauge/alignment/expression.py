"""New aspects as expressions over alignments: `mean(y>x) * mean(r>y)`.

Fields: x the source, c the context, y the output, r a reference. `y>x` is align(y → x), `y>[x,c]` aligns with both.
mean, sum and low (least aligned fifth) make numbers of alignments; harmonic, min, max and sqrt, + - * / ** and
numbers combine them. Nothing else is allowed and nothing is ever evaluated as Python.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nlgauge.alignment.estimate import Alignment
from nlgauge.errors import NlgaugeError

Term = tuple[str, tuple[str, ...]]
FIELDS = {"x": "source", "c": "context", "y": "output", "r": "references"}
AGGREGATES: dict[str, Callable[[Alignment], float]] = {
    "mean": Alignment.mean,
    "sum": Alignment.sum,
    "low": Alignment.low,
}
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
LONGEST = 1000


def harmonic(*values: float) -> float:
    """Harmonic mean; 0 as soon as one value is 0.

    >>> harmonic(0.5, 1.0)
    0.6666666666666666
    """
    return 0.0 if min(values) <= 0 else len(values) / sum(1 / v for v in values)


FUNCTIONS: dict[str, Callable[..., float]] = {"harmonic": harmonic, "min": min, "max": max, "sqrt": math.sqrt}


@dataclass(frozen=True)
class Expression:
    """A checked expression: which alignments it needs, and its value once they are known."""

    text: str
    tree: ast.expr
    terms: tuple[Term, ...]

    @property
    def fields(self) -> set[str]:
        return {f for a, b in self.terms for f in (a, *b)}

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"output", *(FIELDS[f] for f in self.fields)})

    def value(self, found: Mapping[Term, Alignment]) -> float:
        """The number; NaN where it is not defined (no tokens, division by 0)."""
        try:
            return float(_value(self.tree, found))
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            return math.nan


def parse(text: str) -> Expression:
    """Check an expression and take it apart.

    >>> parse("mean(y>[x,c])").terms
    (('y', ('x', 'c')),)
    """
    if len(text) > LONGEST:
        raise NlgaugeError(f"the expression is longer than {LONGEST} characters.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NlgaugeError(f"'{text}' is no expression; write e.g. mean(y>x) * mean(r>y).") from None
    terms: dict[Term, None] = {}
    _check(tree, text, terms)
    if not terms:
        raise NlgaugeError(f"'{text}' holds no alignment such as y>x.")
    return Expression(text, tree, tuple(terms))


def _check(node: ast.expr, text: str, terms: dict[Term, None]) -> None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        _check(node.left, text, terms)
        _check(node.right, text, terms)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        _check(node.operand, text, terms)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords and node.args:
        name = node.func.id
        if name in AGGREGATES:
            if len(node.args) != 1:
                raise NlgaugeError(f"'{text}': {name} takes one alignment such as y>x.")
            terms[_term(node.args[0], text)] = None
        elif name in FUNCTIONS:
            for part in node.args:
                _check(part, text, terms)
        else:
            raise NlgaugeError(
                f"'{text}': no function '{name}'; there are {', '.join([*AGGREGATES, *FUNCTIONS])}."
            )
    else:
        raise NlgaugeError(
            f"'{text}': '{ast.unparse(node)}' is not allowed here; use mean, sum or low of y>x, "
            f"{', '.join(FUNCTIONS)}, numbers and + - * / **."
        )


def _term(node: ast.expr, text: str) -> Term:
    wrong = NlgaugeError(
        f"'{text}': '{ast.unparse(node)}' is no alignment; write a>b with fields {', '.join(FIELDS)}, as y>[x,c]."
    )
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt)):
        raise wrong
    right = node.comparators[0]
    names = [node.left, *(right.elts if isinstance(right, ast.List) else [right])]
    fields = [n.id for n in names if isinstance(n, ast.Name) and n.id in FIELDS]
    if len(fields) != len(names) or len(fields) < 2:
        raise wrong
    return fields[0], tuple(fields[1:])


def _value(node: ast.expr, found: Mapping[Term, Alignment]) -> float:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, found), _value(node.right, found))
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, found)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in AGGREGATES:
            return AGGREGATES[node.func.id](found[_term(node.args[0], "")])
        values = [_value(part, found) for part in node.args]
        return math.nan if any(map(math.isnan, values)) else FUNCTIONS[node.func.id](*values)
    raise TypeError
