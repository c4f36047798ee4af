"""The Python interface: every analysis through it, the same signatures as methods of Dataset, frames of every kind in and
out.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, get_origin

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from loops import for_each
from nlgauge import registry
from nlgauge.api.questions import question, select, with_companions
from nlgauge.cli import VERBS, Verb
from nlgauge.cli._generate import options_of
from nlgauge.data.units import TRIAL_OF
from nlgauge.datasets.load import check
from nlgauge.docstrings import summary
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.spec import parse_spec

METHODS = ("agreement", "analyze", "compare", "correlate", "delegate", "estimate", "gate", "judge", "label", "plan", "rank", "report",
           "score", "verdicts")  # fmt: skip


def two_aspects() -> ng.Dataset:
    """The example with a second aspect: the first one and noise."""
    data = ng.example()
    noise = np.random.default_rng(0).integers(-1, 2, data.ratings.height)
    second = data.ratings.with_columns(pl.lit("charm").alias("aspect"), (pl.col("value") + pl.Series(noise)).clip(1, 5))
    return replace(data, ratings=pl.concat([data.ratings, second]))


def with_choices() -> ng.Dataset:
    """The example with a model's choice between two systems on each input, the first shown preferred."""
    data = ng.example()
    first, second = data.systems[:2]
    rows = [(i, *pair, "quality", "m", "first") for i in data.inputs for pair in ((first, second), (second, first))]
    votes = pl.DataFrame(rows, schema=ng.Dataset.COMPARISONS, orient="row")
    return replace(data, comparisons=votes, models=frozenset({"m"}))


def with_both_choosing() -> ng.Dataset:
    """The same, and a person who chooses the first system."""
    data = with_choices()
    person = data.comparisons.with_columns(
        pl.lit("ann").alias("rater"),
        pl.when(pl.col("first") == data.systems[0])
        .then(pl.lit("first"))
        .otherwise(pl.lit("second"))
        .alias("preferred"),
    )
    return replace(data, comparisons=pl.concat([data.comparisons, person]))


def in_halves() -> ng.Dataset:
    data = ng.example()
    half = pl.Series("half", ["a" if i % 2 else "b" for i in range(len(data))])
    return replace(data, samples=data.samples.with_columns(half))


def with_spans() -> ng.Dataset:
    """The example, in which two persons and a program marked the first letters of every output."""
    data = ng.example()
    marks = [
        (system, given, rater, "output", k % 3, k % 3 + 4, "minor" if k % 2 else "major", None)
        for k, (system, given) in enumerate(data.samples.select("system", "input").iter_rows())
        for rater in ("ann", "bob", "gpt-4")
    ]
    return replace(data, models=frozenset({"gpt-4"}), spans=pl.DataFrame(marks, schema=ng.Dataset.SPANS, orient="row"))


def with_trials(trials: int = 3) -> ng.Dataset:
    """The example, in which every input has several trials with the same values."""
    data = ng.example()

    def again(frame: pl.DataFrame) -> pl.DataFrame:
        names = [pl.col("input"), *(pl.col("input") + f" #{k}" for k in range(2, trials + 1))]
        return pl.concat([frame.with_columns(name.alias("input")) for name in names])

    samples = again(data.samples.with_columns(pl.col("input").alias(TRIAL_OF)))
    return replace(data, samples=samples, ratings=again(data.ratings), scores=again(data.scores))


def with_parts() -> ng.Dataset:
    """Sixteen outputs of four steps with points, judged by a human and by a model."""
    rows = [
        {"id": f"q{i}", "step": k, "points": k, "human_label": int(i % 5 >= k), "judge": int((i * k) % 5 > 1)}
        for i in range(16)
        for k in range(1, 5)
    ]
    return ng.load(rows, name="parts")


# What an analysis needs beside the example: other data, or options.
MORE: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "drift": (lambda: [ng.example(), ng.example()], {}),
    "aspect-disagreement": (two_aspects, {}),
    "inter-aspect": (two_aspects, {}),
    "joint-aspects": (two_aspects, {}),
    "independent": (in_halves, {"by": "half", "draws": 20}),
    "slices": (in_halves, {"by": "half", "human_pass_from": 4, "judge_pass_from": 0.5}),
    "position": (with_choices, {}),
    "rank": (with_choices, {}),
    "rubric": (with_parts, {}),
    "steps": (with_parts, {}),
    "spans": (with_spans, {}),
    "word-scores": (with_spans, {"metrics": ["ctc"]}),
    "rank-effects": (with_choices, {}),
    "rank-sides": (with_both_choosing, {}),
    "labels-needed": (ng.example, {"metrics": ["unigram_f1"], "trials": 5}),
    "plan": (ng.example, {"metrics": ["unigram_f1", "random"], "trials": 5}),
    "transport": (ng.example, {"metrics": ["unigram_f1"], "reference": ng.example().systems[0], "human_pass_from": 4}),
    "delegate": (ng.example, {"metrics": ["unigram_f1"], "human_pass_from": 4}),
    "calibration": (ng.example, {"human_pass_from": 4}),
    "threshold": (ng.example, {"human_pass_from": 4}),
    "trials": (with_trials, {"pass_from": 0.5}),
    "verdicts": (ng.example, {"human_pass_from": 4, "judge_pass_from": 0.5}),
    "progress": (ng.example, {"years": {"unigram_f1": 2002, "char3_f1": 2015, "source_overlap": 2020}}),
    "robustness": (ng.example, {"metrics": ["rouge-1"], "sample": 10}),
}


@functools.cache
def answered(name: str) -> ng.Table:
    """The table of an analysis on data that it answers, computed once for all tests of a process."""
    made, options = MORE.get(name, (ng.example, {}))
    chosen = select(made(), by=options.get("by"), metrics=options.get("metrics"))
    return chosen.analyze(name, **{k: v for k, v in options.items() if k not in ("by", "metrics")})


@pytest.mark.parametrize("name", registry.names("analysis"))
def test_every_analysis_runs_through_the_door(name: str) -> None:
    table = answered(name)
    assert isinstance(table, ng.Table)
    assert len(table)
    assert table.kind == name


@pytest.mark.parametrize("name", registry.names("analysis"))
def test_a_panel_answers_or_refuses_in_one_line(name: str) -> None:
    try:
        table = ng.example().panel(metrics=["unigram_f1", "random", "char3_f1"]).analyze(name)
    except NlgaugeError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(table, ng.Table)


def test_a_panel_made_by_hand_says_where_analyses_of_data_sets_are_asked() -> None:
    panel = replace(ng.example().panel(), data=None)
    with pytest.raises(
        NeedsMissing, match=r"'wins' requires a data set, not one panel: use nlgauge.analyze\('wins', data\)"
    ):
        panel.analyze("wins")


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_a_dataset_have_the_signatures_of_the_functions(name: str) -> None:
    theirs = [p for p in inspect.signature(getattr(ng, name)).parameters.values() if p.name != "data"]
    mine = list(inspect.signature(getattr(ng.example(), name)).parameters.values())
    assert [(p.name, p.kind, p.default) for p in mine] == [(p.name, p.kind, p.default) for p in theirs]


def public_functions() -> list[str]:
    modules = {"datasets", "judges", "metrics", "stats"}
    return [n for n in ng.__all__ if n[0].islower() and n not in modules]


@for_each(public_functions())
def test_a_public_function_is_typed_and_has_an_example(name: str) -> None:
    function: Any = ng.report.report if name == "report" else getattr(ng, name)  # type: ignore[attr-defined]
    parameters = inspect.signature(function).parameters
    assert all(p.annotation is not p.empty for p in parameters.values())
    assert ">>> " in inspect.getdoc(function)
    for parameter in parameters.values():  # options that are not named stand in a TypedDict
        if parameter.kind is parameter.VAR_KEYWORD and name not in ("analyze", "load"):  # of any analysis or reader
            assert get_origin(parameter.annotation) is Unpack or "Unpack" in str(parameter.annotation)
    lead = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert lead in (["data", "aspect", "metrics"], ["data", "metrics"], ["data", "aspect"], []) or name in (
        "analyze",
        "load",
    )


def test_report_can_be_called_whatever_was_imported_before() -> None:
    importlib.import_module("nlgauge.report.page")
    assert callable(ng.report)
    assert callable(importlib.reload(ng).report)


def leaves(verbs: dict[str, Verb], path: str = "") -> Iterator[tuple[str, Verb]]:
    """Every verb with those inside it."""
    for name, verb in verbs.items():
        if verb.inner is None:
            yield f"{path}{name}", verb
        else:
            yield from leaves(verb.inner, f"{path}{name} ")


def function_of(verb: Verb) -> Any:
    module, name = verb.function.split(":")
    return getattr(importlib.import_module(module), name)


def test_every_verb_is_made_from_a_documented_function() -> None:
    for name, verb in leaves(VERBS):
        function = function_of(verb)
        assert callable(function), name
        assert summary(function.__doc__) == verb.summary, name
        assert len(VERBS) <= 13, "with the plug-in `reproduce`, 14 verbs at most"


def test_what_a_verb_does_a_public_function_does_and_the_other_way_round() -> None:
    renamed = {"run": "report"}
    data = {"load", "example"}  # what every verb does first
    questions = {name for name in public_functions() if registry.names("analysis").count(name)}
    asked = {renamed.get(name, name) for name in VERBS}
    groups = {"train", "data", "list", "cache"}
    assert asked - groups == set(public_functions()) - data - questions | {"estimate", "plan"}
    for name in set(public_functions()) - data - questions | {"estimate"}:
        verb = VERBS[next((verb for verb, function in renamed.items() if function == name), name)]
        if name != "analyze":
            assert verb.function.endswith(f":{name}"), "the verb calls another function than Python users do"


@pytest.mark.parametrize("name", [name for name, verb in leaves(VERBS) if not verb.makes_app])
def test_every_option_of_a_verb_has_a_type_and_a_help(name: str) -> None:
    verb = dict(leaves(VERBS))[name]
    function = question(name, companions=True) if verb.analysis else function_of(verb)
    for option in options_of(function):
        assert option.help, f"{name} {option.name}: its description in the docstring is its help"


@for_each(registry.names("analysis"))
def test_every_option_of_an_analysis_has_a_type_and_a_help(name: str) -> None:
    options = options_of(question(name, companions=True))
    assert name in registry.IN_PAPERS["analysis"] or all(option.help for option in options)


@for_each(registry.names("analysis"))
def test_companions_of_an_analysis_exist_and_have_the_options_that_they_are_given(name: str) -> None:
    for spec in registry.get("analysis", name).also:
        other, own = parse_spec(spec)
        assert own.keys() <= {p.name for p in registry.get("analysis", other).parameters}


def test_a_companion_that_means_nothing_here_is_left_out_with_its_reason() -> None:
    answer = with_companions("rank", with_choices())
    assert {table.kind for table in answer.tables} == {"rank", "rank-effects"}
    assert [remark.partition(" is not computed: ")[0] for remark in answer.remarks] == ["rank-sides", "wins"]
    with pytest.raises(NeedsMissing, match="at least two"):
        with_companions(
            "agreement", ng.load([{"system": s, "doc": d, "tone": d, "bleu": d} for s in "ab" for d in (1, 2)])
        )


def test_check_takes_what_load_takes() -> None:
    assert inspect.signature(check).parameters == inspect.signature(ng.load).parameters


def test_no_module_hides_a_function_of_the_door() -> None:
    files = {path.stem if path.is_file() else path.name for path in Path(ng.__file__).parent.iterdir()}
    modules = {"datasets", "judges", "metrics", "stats"}
    assert files & set(ng.__all__) - modules == {"report"}  # which can be called


def test_texts_are_scored_without_a_file() -> None:
    scored = ng.score(["a b", "c"], ["bleu", "rouge-1"], ref=[["a b", "x"], ["d"]])
    assert scored.metrics == ["bleu", "rouge-1"]
    assert scored.scores["rouge-1"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (["a"], {"ref": ["a", "b"]}, "got 1 of output, 2 of references"),
        ([{"output": "a"}], {"ref": ["a"]}, "references: only for outputs that are a text file or a list of texts"),
        (["a"], {"src": [3]}, "source: expected a text; got int"),
    ],
)
def test_texts_that_do_not_fit_are_refused_in_one_line(data: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(NlgaugeError, match=said):
        ng.score(data, "len", **options)


def test_a_path_a_frame_and_a_dataset_give_the_same_table(tmp_path: Path) -> None:
    rows = [
        {"system": s, "input": i, "human.q": (i * k) % 5, "metric.m": i + k}
        for k, s in enumerate("ABC")
        for i in range(6)
    ]
    frame = pl.DataFrame(rows)
    path = tmp_path / "a.csv"
    frame.write_csv(path)
    tables = [ng.correlate(data).rows for data in (path, str(path), frame, rows, ng.load(rows), select(rows))]
    assert all(rows == tables[0] for rows in tables)


def frames(rows: list[dict[str, Any]]) -> dict[str, Any]:
    pandas, arrow, hugging = (pytest.importorskip(name) for name in ("pandas", "pyarrow", "datasets"))
    frame = pandas.DataFrame(rows)
    return {
        "polars": pl.DataFrame(rows),
        "lazy": pl.DataFrame(rows).lazy(),
        "pandas": frame,
        "pandas index": frame.set_index(["system", "input"]),
        "pyarrow": arrow.Table.from_pylist(rows),
        "hugging face": hugging.Dataset.from_list(rows),
        "rows": rows,
        "chosen rows": hugging.Dataset.from_list([*rows, {**rows[0], "input": "more"}]).select(range(len(rows))),
    }


@pytest.mark.parametrize("kind", ["lazy", "pandas", "pandas index", "pyarrow", "hugging face", "chosen rows", "rows"])
def test_frames_of_every_kind_hold_the_same_data(kind: str) -> None:
    rows = [
        {
            "system": s,
            "input": f"i{i}",
            "output": f"{s} says {i}",
            "references": ["a", f"b{i}"],
            "human.q": None if i == 3 else i % 3 + k,
            "metric.m": float("nan") if i == 2 else i + 0.5 * k,
        }
        for k, s in enumerate("ABC")
        for i in range(5)
    ]
    every = frames(rows)
    one, other = ng.load(every["polars"], name="x"), ng.load(every[kind], name="x")
    assert one.samples.sort("system", "input").equals(other.samples.select(one.samples.columns).sort("system", "input"))
    assert one.ratings.sort("system", "input").equals(other.ratings.sort("system", "input"))
    assert one.scores.sort("system", "input").equals(other.scores.sort("system", "input"), null_equal=True)


def test_tables_go_out_as_frames_of_the_asked_kind() -> None:
    table = ng.correlate(ng.example(), measures="input/kendall")
    assert table.to_pandas()["metric"].tolist() == table.to_polars()["metric"].to_list()
    assert table.to_arrow()["metric"].to_pylist() == table.to_polars()["metric"].to_list()
    assert np.allclose(table.to_pandas()["value"], table.to_arrow()["value"].to_numpy())


def test_several_aspects_are_one_table_that_prints_apart() -> None:
    table = ng.correlate(two_aspects(), measures="input/kendall")
    assert {row["aspect"] for row in table} == {"constructed_quality", "charm"}
    assert [len(part) for part in table.parts] == [5, 5]
    assert str(table).count("agreement of metrics with") == 2
    assert table.to_polars().height == 10
    with pytest.raises(NlgaugeError, match="plot one of its parts"):
        table.plot()
    assert table.parts[0].plot().data


def test_a_selection_computes_the_same_question_once_and_says_what_it_left_out() -> None:
    chosen = select(in_halves(), by="half")
    first = chosen.each("compare")
    assert chosen.each("compare") is first
    assert [row["half"] for row in first[0]][:1] == ["b"]


def test_what_could_not_be_computed_is_data() -> None:
    data = two_aspects()
    lone = data.ratings.filter((pl.col("aspect") != "charm") | (pl.col("rater") == data.raters[0]))
    chosen = select(replace(data, ratings=lone))
    assert len(chosen.each("agreement", draws=20)) == 1
    (refusal,) = chosen.not_computed
    assert (refusal.analysis, refusal.aspect, refusal.code) == ("agreement", "charm", "too_few_raters")
    assert refusal.data == chosen.data.name and refusal.values["needed"] == 2 > refusal.values["available"]
    assert str(refusal).startswith(f"{chosen.data.name}, charm: agreement needs at least two annotators")
    # Another question about the same aspect has its own reasons, also when it is asked again.
    assert chosen.ask("correlate", measures=["input/kendall"])[1] == []
    assert chosen.ask("agreement", draws=20)[1] == [refusal]


def test_reasons_that_hold_for_several_aspects_are_one_sentence() -> None:
    data = two_aspects()
    chosen = select(replace(data, ratings=data.ratings.filter(pl.col("rater") == data.raters[0])))
    with pytest.raises(NeedsMissing, match="constructed_quality and charm: agreement needs at least two") as raised:
        chosen.each("agreement", draws=20)
    assert {r.aspect for r in raised.value.refusals} == set(data.aspects)


def test_dependence_that_is_named_reaches_the_panel_and_what_is_left_out_is_still_known() -> None:
    data = ng.example()
    halves = [f"half {data.inputs.index(i) % 2}" for i in data.samples["input"]]
    data = replace(data, samples=data.samples.with_columns(pl.Series("topic", halves)))
    chosen = select(data, cluster="topic", family="^([a-z])")
    assert chosen.panel().cluster_column == "topic"
    assert chosen.panel().families == tuple(s[0].lower() for s in chosen.panel().systems)
    assert select(chosen, family="(.)$").data.family == "(.)$"
    assert [d.family for d in select([data, data], family="(.)$").datasets] == ["(.)$"] * 2
    # whoever holds the selection without the option prints what was not computed
    assert chosen.clustered("topic").not_computed is chosen.not_computed


def test_ranking_and_significance_run_the_test_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("nlgauge.analyses.comparing.compare_pairs")
    calls: list[Any] = []
    for name in ("contrasts", "run_test"):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, real=real, **k: calls.append(a) or real(*a, **k))
    chosen = select(ng.example())
    chosen.analyze("compare")
    chosen.analyze("compare-pairs")
    assert len(calls) == 1
    for analysis in ("compare", "compare-pairs"):
        chosen.analyze(analysis, test="williams", measure="global/pearson")
    assert len(calls) == 2
    select(ng.example()).analyze("compare-pairs")
    assert len(calls) == 3  # another selection knows nothing of the first


def test_an_unknown_option_or_analysis_is_answered_with_those_there_are() -> None:
    with pytest.raises(NlgaugeError, match=r"correlate: no option 'measurs'. Did you mean 'measures'\?"):
        ng.analyze("correlate", ng.example(), measurs="x")
    with pytest.raises(NlgaugeError, match=r"no analysis 'compar'\. Did you mean 'compare'"):
        ng.analyze("compar", ng.example())
    with pytest.raises(NlgaugeError, match="no aspect 'x'"):
        ng.correlate(ng.example(), "x")


@pytest.mark.parametrize("thing", [ng.example, lambda: ng.example().panel(), lambda: ng.correlate(ng.example())])
def test_notebooks_show_html_without_foreign_markup(thing: Callable[[], Any]) -> None:
    shown = thing()._repr_html_()
    assert "unigram_f1" in shown
    assert "<script" not in ng.Table("<script>", [{"a": "<b>"}], notes=["<i>"])._repr_html_()
    assert "<script" not in replace(ng.example(), name="<script>")._repr_html_()


def test_the_door_lists_what_it_offers() -> None:
    assert set(ng.__all__) <= set(dir(ng))
    for name in ng.__all__:
        assert getattr(ng, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ng.nothing  # type: ignore[attr-defined]


def test_two_arrays_are_scores_and_ratings() -> None:
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 6, (6, 20)).astype(float)
    scores = {"good": ratings + rng.normal(size=ratings.shape), "bad": rng.normal(size=ratings.shape)}
    table = ng.correlate(scores, ratings, measures="global/pearson")
    for row in table:
        assert row["value"] == pytest.approx(np.corrcoef(scores[row["metric"]].ravel(), ratings.ravel())[0, 1])
    one = ng.correlate(pl.Series("m", scores["good"][0]), list(ratings[0]), measures="global/pearson")
    assert one.rows[0]["value"] == pytest.approx(np.corrcoef(scores["good"][0], ratings[0])[0, 1])
    with pytest.raises(NlgaugeError, match=r"one shape.*scores \(2,\), ratings \(3,\)"):
        ng.correlate([1, 2], [1, 2, 3])


def test_roles_of_columns_are_options_of_every_function_as_of_load() -> None:
    rows = [
        {"model": s, "prompt": i, "liking": (s * 7 + i * 3) % 5, "m": (s * 5 + i) % 7} for s, i in np.ndindex(6, 12)
    ]
    declared = ng.load(rows, human="liking", lower="m")
    expected = ng.compare(declared).rows[0]["value"]
    assert ng.compare(rows, human="liking", lower="m").rows[0]["value"] == expected
    assert ng.compare(rows, human="liking", columns="lower=m").rows[0]["value"] == expected
    assert ng.report(rows, human=["liking"], quick=True).answer.warnings == []  # nothing is assumed
    with pytest.raises(NlgaugeError, match=r"declared when data are loaded"):
        ng.compare(declared, human="liking")


def test_scored_data_print_as_one_line() -> None:
    scored = ng.score(["a b c", "d e"], "bleu", ref=["a b", "d e f"])
    assert repr(scored) == "Dataset('texts': 1 system × 2 inputs, 2 outputs, aspects [], 0 annotators, 1 metric)"
