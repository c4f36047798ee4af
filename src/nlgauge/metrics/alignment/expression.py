"""New aspects as expressions over alignments: `mean(y>x) * mean(r>y)`.

Fields: x the source, c the context, y the output, r a reference. `y>x` is align(y → x), `y>[x,c]` aligns with both.
mean, sum, low (least aligned fifth), half (least aligned half), geo (geometric mean) and distinct (sum over distinct
tokens) make numbers of alignments; harmonic, min, max and sqrt, + - * / ** and numbers combine them. Nothing else is
allowed and nothing is ever evaluated as Python.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.spec import syntax_tree

Term = tuple[str, tuple[str, ...]]
FIELDS = {"x": "source", "c": "context", "y": "output", "r": "references"}
AGGREGATES: dict[str, Callable[[Alignment], float]] = {
    "mean": Alignment.mean,
    "sum": Alignment.sum,
    "low": Alignment.low,
    "geo": Alignment.geo,
    "half": Alignment.half,
    "distinct": Alignment.distinct,
}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
LONGEST = 1000


def harmonic(*values: Any) -> Any:
    """Return the harmonic mean; 0 if one value is 0.

    >>> float(harmonic(0.5, 1.0))
    0.6666666666666666
    """
    least = lowest(*values)
    return np.where(least <= 0, 0.0, len(values) / sum(1 / np.where(least <= 0, 1.0, v) for v in values)) + 0 * least


def lowest(*values: Any) -> Any:
    """Return the smallest value, element by element."""
    return functools.reduce(np.minimum, values)


def highest(*values: Any) -> Any:
    """Return the largest value, element by element."""
    return functools.reduce(np.maximum, values)


FUNCTIONS: dict[str, Callable[..., Any]] = {"harmonic": harmonic, "min": lowest, "max": highest, "sqrt": np.sqrt}
# A number of each alignment of a kind: of one sample, or of all at once as an array.
Number = Callable[[str, Term], Any]


@dataclass(frozen=True)
class Expression:
    """A checked expression: the alignments it needs, and its value given these."""

    text: str
    tree: ast.expr
    terms: tuple[Term, ...]

    @property
    def fields(self) -> set[str]:
        """Return the fields that are aligned: x, c, y, r."""
        return {f for a, b in self.terms for f in (a, *b)}

    @property
    def needs(self) -> frozenset[str]:
        """Return the texts that a sample must have, as metrics call them."""
        return frozenset({"output", *(FIELDS[f] for f in self.fields)})

    def value(self, found: Mapping[Term, Alignment]) -> float:
        """Return the number; NaN where it is undefined (no tokens, division by 0)."""
        return float(self.values(lambda name, term: np.float64(AGGREGATES[name](found[term]))))

    def values(self, number: Number) -> Any:
        """Return the values of whole arrays: `number` gives the aggregate of each sample's alignment."""
        with np.errstate(all="ignore"):
            try:
                result = np.asarray(_value(self.tree, number), np.float64)
            except OverflowError:  # of plain numbers in the expression
                return np.float64(math.nan)
            return np.where(np.isfinite(result), result, math.nan)


def parse(text: str) -> Expression:
    """Parse and check an expression.

    >>> parse("mean(y>[x,c])").terms
    (('y', ('x', 'c')),)
    """
    if len(text) > LONGEST:
        raise NlgaugeError(f"the expression is longer than {LONGEST} characters.")
    try:
        tree = syntax_tree(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NlgaugeError(f"'{text}' is not an expression; write for example mean(y>x) * mean(r>y).") from None
    terms: dict[Term, None] = {}
    _check(tree, text, terms)
    if not terms:
        raise NlgaugeError(f"'{text}' contains no alignment such as y>x.")
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
                f"'{text}': no function '{name}'; expected one of {', '.join([*AGGREGATES, *FUNCTIONS])}."
            )
    else:
        raise NlgaugeError(
            f"'{text}': '{ast.unparse(node)}' is not allowed here; use {', '.join(AGGREGATES)} of y>x, "
            f"{', '.join(FUNCTIONS)}, numbers and + - * / **."
        )


def _term(node: ast.expr, text: str) -> Term:
    wrong = NlgaugeError(
        f"'{text}': '{ast.unparse(node)}' is not an alignment; write a>b with fields {', '.join(FIELDS)}, as y>[x,c]."
    )
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Gt)):
        raise wrong
    right = node.comparators[0]
    names = [node.left, *(right.elts if isinstance(right, ast.List) else [right])]
    fields = [n.id for n in names if isinstance(n, ast.Name) and n.id in FIELDS]
    if len(fields) != len(names) or len(fields) < 2:
        raise wrong
    return fields[0], tuple(fields[1:])


def _value(node: ast.expr, number: Number) -> Any:
    if isinstance(node, ast.Constant):
        return np.float64(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, number), _value(node.right, number))
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, number)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in AGGREGATES:
            return number(node.func.id, _term(node.args[0], ""))
        return FUNCTIONS[node.func.id](*(_value(part, number) for part in node.args))
    raise TypeError(ast.dump(node))
