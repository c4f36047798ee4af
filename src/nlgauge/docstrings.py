"""Parts of numpydoc docstrings, and descriptions of the parameters that many functions share.

A docstring describes what is special about its function. A parameter that it does not describe is described here, in
`SHARED`: `analysis` and `with_shared_parameters` add the entry when the function is defined, so that `help`, the
command line, the JSON schema and the reference pages show it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# A heading, underlined; then its text up to the next one.
HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.M)
FIELD = re.compile(r"^(\*{0,2}\w+(?:, \w+)*)(?: : .*)?$")
TYPED = "$ nlgauge"  # how an example for the shell begins

# In numpydoc. An entry that names a default (`optional`: None) is for parameters with this default.
SHARED = """\
panel : Panel
    Metric scores and human ratings of one aspect.
choice : Choice
    Data, and the aspects, metrics and parts of it to use.
aspect : str or sequence of str, optional
    Aspects (human ratings) to analyze. Default: all.
judge : str, optional
    Metric or judge to evaluate. Default: all.
level : float, default 0.95
    Level of the confidence intervals.
level : float, default 0.05
    Significance level.
seed : int, default 0
    Seed of the random draws: the same seed gives the same numbers on any machine.
progress : callable, optional
    Called after each step with the number of steps done and the number of all steps.
measure : str or Measure
    Measure of agreement, such as `input/kendall` or `system/pearson`.
measure : str or Measure, optional
    Measure of agreement; Kendall's tau within inputs by default (over all outputs where there is one system).
measures : sequence of str or Measure, optional
    Measures of agreement, such as `input/kendall` or `system/pearson`; by default the twelve of Gao et al. (2025):
    Pearson, Spearman and Kendall at the levels system, item, input and global.
test : {'auto', 'permutation', 'williams', 'bootstrap'}, default 'auto'
    `auto` (jackknife) tests whether the difference of two metrics generalizes to other systems and inputs, or to other
    inputs only, if there are fewer than six systems or families of systems. `permutation` with how=both tests the
    difference on these outputs only (the test of Gao et al. 2025 and nlpstats). `williams` and `bootstrap` are the
    other tests in common use.
test : {'auto', 'permutation', 'williams', 'bootstrap'}, default 'permutation'
    Test for discriminative power: `permutation`, `williams`, `bootstrap` or `auto`.
how : {'both', 'inputs', 'systems', 'cells'}, optional
    What the permutation test swaps or the bootstrap resamples: `systems`, `inputs`, `both` or `cells`. If the test is
    `auto`, this option selects the permutation test.
draws : int, optional
    Number of permutations, bootstrap samples or draws of the simultaneous correction. Default: as many as the test
    needs.
draws : int, default 499
    Number of permutations.
correction : {'simultaneous', 'holm', 'bh', 'none'}, optional
    Correction for multiple testing: `simultaneous` (with test=auto, its default), `holm` (default of the other tests),
    `bh` or `none`.
profile : str, default 'nlgauge'
    Conventions of another program: nlgauge, nlpstats, sacrerouge, nlgcorreval or mt-metrics-eval. Any profile other
    than nlgauge selects the permutation test if the test is `auto`.
trials : int, default 1000
    Number of random splits of the inputs into halves, for ranking consistency.
trials : int, default 100
    Number of simulated studies per sample size.
ranked_by : str or Measure, optional
    Measure that you use now, for which the answer then gives advice.
outputs : {'clustered', 'independent'}, default 'clustered'
    Whether to treat systems and inputs as clusters (`clustered`) or all outputs as `independent`, as Novikova et al.
    (2017) do.
human_pass_from : float, optional
    Lowest human rating that is a pass. Required if there are more than two values.
judge_pass_from : float, optional
    Lowest judge score that is a pass. Required if there are more than two values.
bins : str or pair of float, default 'thirds'
    How ratings are divided into the levels low, moderate and high: `thirds` of the scale (terciles if the scale has no
    bounds), `terciles`, `paper` (below 3, 3, above 3) or two cut points.
scale : pair of float or mapping, optional
    Lowest and highest possible rating, for all aspects or for each aspect. Default: inferred from the ratings.
unit : {'rater', 'output'}, default 'rater'
    Unit of observation: one rating by a `rater` (the metric's score is then repeated for each rater), or one `output`
    with its mean rating.
families : mapping, optional
    Families of metrics, as {family: [metrics]} or {metric: family}; metrics that are not listed are excluded. Default:
    inferred from the metric names (`rouge-1` and `rouge-l` belong to `rouge`).
overall : bool, default False
    Add the mean of all aspects as another aspect, as Nimah et al. (2023) do for summarization.
pairs : str, sequence or mapping, optional
    Pairs of systems to compare: `all`, a list of pairs, or pairs by group, as in {'easy': [('A', 'B')]}. By default,
    the pairs with the largest difference in human ratings are easy, and those with the smallest are hard.
model : {'xgboost', 'ridge'}, default 'xgboost'
    Model: XGBoost (extra `boost`), or ridge regression on ranks.
split : {'inputs', 'outputs'}, default 'inputs'
    Split folds by `inputs`, or by single `outputs` (the plain folds of Colombo et al. 2023).
count : int, default 5
    Number of folds.
ties : {'davidson', 'rao-kupper', 'half', 'drop'}, default 'davidson'
    Treatment of ties: the model of Davidson, the model of Rao and Kupper, `half` a win for each system, or `drop` them.
adjust : {'first', 'style', 'none'}, default 'first'
    Effects to control for: presentation order (`first`), order and `style` (length, lists, headings, bold words), or
    `none`.
probability : str, optional
    Column with the sampling probability of each labeled output. If neither `probability` nor `strata` is given, the
    labels are assumed to be a simple random sample.
strata : str, optional
    Column with the stratum from which each output was sampled.
data : path, data frame, rows, Dataset, list of Datasets or Session
    A table (CSV, TSV, JSON, JSONL, Parquet, Excel; also .gz), an export of another tool (see `nlgauge data formats`),
    a published data set, or 'example'.
metrics : str or sequence of str, optional
    Metrics or judges to analyze. Default: all.
engine : {'local', 'ray'}, default 'local'
    Execution engine: `local` uses all cores of this machine; `ray` uses a Ray cluster.
address : str, optional
    Address of the Ray cluster, such as auto or 10.0.0.1:6379. Default: start Ray on this machine.
tell : callable, optional
    Called with remarks.
store : path, optional
    Path of the cache file. Default: NLGAUGE_STORE, or a file in the cache folder.
**file
    As in `FileOptions`.
**choice
    As in `ChoiceOptions`: `by`, `cluster`, `family`, `columns`, `labels`, `seed` and others.
"""


def sections(text: str) -> dict[str, str]:
    """Split a docstring at its headings; the text before the first one stands under the empty name.

    >>> sections("Add.\\n\\nParameters\\n----------\\nx : int\\n    A number.")["Parameters"]
    'x : int\\n    A number.'
    """
    first, *rest = HEADING.split(inspect.cleandoc(text))
    return {"": first.strip()} | {name: body.strip("\n") for name, body in zip(rest[::2], rest[1::2], strict=True)}


def summary(text: str) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def descriptions(text: str) -> dict[str, str]:
    """Return the description of each parameter or attribute of a docstring, each on one line.

    >>> descriptions("Add.\\n\\nParameters\\n----------\\nx, y : int\\n    Numbers\\n    to add.")
    {'x': 'Numbers to add.', 'y': 'Numbers to add.'}
    """
    parts = sections(text)
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in "\n".join(parts.get(name, "") for name in ("Parameters", "Attributes")).splitlines():
        if line[:1].strip() and (field := FIELD.match(line)):
            names = [name.lstrip("*") for name in field[1].split(", ")]
            found |= {name: [] for name in names}
        else:
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(filter(None, lines)) for name, lines in found.items()}


def entries(text: str) -> list[str]:
    """Split the text of `Parameters` into its entries, each of one parameter or of several together.

    >>> entries("x : int\\n    A number.\\ny : int")
    ['x : int\\n    A number.', 'y : int']
    """
    return re.split(r"\n(?=\S)", text.strip("\n")) if text else []


def joined(parts: Mapping[str, str]) -> str:
    """Return the docstring with these sections, as `sections` splits it."""
    return "\n\n".join(f"{name}\n{'-' * len(name)}\n{body}" if name else body for name, body in parts.items())


def shell_examples(text: str) -> list[str]:
    """Return the examples for the shell, without the prompt.

    >>> shell_examples("Add.\\n\\nExamples\\n--------\\n>>> 1\\n1\\n\\n$ nlgauge run   (the example)")
    ['nlgauge run   (the example)']
    """
    lines = sections(text).get("Examples", "").splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith(TYPED)]


def with_shared_parameters(function: F) -> F:
    """Complete the docstring of a function, as a decorator."""
    function.__doc__ = completed(function.__doc__ or "", defaults_of(function))
    return function


def defaults_of(function: Callable[..., Any]) -> dict[str, str | None]:
    """Return the parameters of a function with their defaults as Python source; None where one is required."""
    return {
        ("**" if p.kind is p.VAR_KEYWORD else "") + p.name: None if p.default is p.empty else repr(p.default)
        for p in inspect.signature(function).parameters.values()
    }


def completed(text: str, defaults: Mapping[str, str | None], *others: str) -> str:
    """Return a docstring with the entries of the parameters that it does not describe, in the order of the signature.

    The entries are those of other docstrings, or else the shared ones.

    >>> print(completed("Add.", {"level": "0.95", "other": None}))
    Add.
    <BLANKLINE>
    Parameters
    ----------
    level : float, default 0.95
        Level of the confidence intervals.
    """
    parts = sections(text)
    known: dict[str, str] = {}
    for each in (text, *others):
        for entry in entries(sections(each).get("Parameters", "")):
            known = dict.fromkeys(names_of(entry), entry) | known
    described = [known.get(name) or _shared_entry(name, default) for name, default in defaults.items()]
    listed = "\n".join(dict.fromkeys(filter(None, described)))
    rest = {name: body for name, body in parts.items() if name not in ("", "Parameters")}
    return joined({"": parts[""], **({"Parameters": listed} if listed else {}), **rest})


def names_of(entry: str) -> list[str]:
    """Return the names of the parameters that an entry of `Parameters` describes."""
    return entry.partition("\n")[0].partition(" : ")[0].split(", ")


def _shared_entry(name: str, default: str | None) -> str:
    """Return the shared entry of a parameter with this default; empty if there is none."""
    ending = "" if default is None else ", optional" if default == "None" else f", default {default}"
    plain = ""
    for entry in entries(SHARED):
        head, _, body = entry.partition("\n")
        if names_of(entry) != [name]:
            continue
        if head.endswith(ending) and (", default " in head or ", optional" in head or not ending):
            return entry
        if ", default " not in head and ", optional" not in head:
            plain = f"{head}{ending}\n{body}"
    return plain
