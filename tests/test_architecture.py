"""The shape of the package: who may import whom, what may be imported early, how long a file may be."""

from __future__ import annotations

import ast
import graphlib
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import nlgauge
import nlgauge.metrics
from loops import for_each
from nlgauge.cli import VERBS
from nlgauge.registry import FOLDERS
from source_tree import nodes, tree

SRC = Path(__file__).resolve().parent.parent / "src" / "nlgauge"
# Downward only, without exception; files of the root that are not named here stand below all rooms.
CHAIN = [
    "plugins", "mcp", "cli", "report", "api", "session", "analyses", "datasets", "scoring", "metrics", "models", "text",
    "data", "stats", "kernels",
]  # fmt: skip
LEVEL = {room: level for level, room in enumerate(CHAIN)}
HEAVY = {"torch", "transformers", "plotly", "ray", "scipy", "xgboost"}
# The one look upward: methods of these nouns call the function of the same name at the door, so that `data.correlate()`
# is `nlgauge.correlate(data)`, `table.plot()` draws what only `report` can and `metric(outputs, references)` is
# `nlgauge.score(outputs, metric, ref=references)`; they import `nlgauge` inside the method.
LOOKS_UP = {"table.py", "data/dataset_questions.py", "data/panel.py", "metrics/base.py"}
# A function with more takes an options object. Where options by name are the interface there may be more: analyses
# (`--set`), kernels (arrays), and what the package exports, if its options are keyword-only.
MOST_PARAMETERS = 8
DOORS = (nlgauge, nlgauge.metrics)


def modules() -> list[Path]:
    return sorted(SRC.rglob("*.py"))


def place(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


each_module = for_each(modules(), name=place)


def room(path: Path) -> str:
    return place(path).partition("/")[0].removesuffix(".py")


def level(room: str) -> int:
    return LEVEL.get(room, len(CHAIN))


@cache
def imports(path: Path) -> set[str]:
    """All of them, at the top, inside functions and for types only."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "nlgauge":
            found |= {f"nlgauge.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name for name in found if name.partition(".")[0] == "nlgauge"}


@each_module
def test_rooms_import_downward_only(path: Path) -> None:
    here = room(path)
    if here in ("__init__", "__main__", "mcp"):  # programs, which start the command line
        return
    for name in imports(path):
        other = name.split(".")[1] if "." in name else ""
        assert level(other) >= level(here), f"{place(path)} imports {name}"


@pytest.mark.parametrize("within", ["analyses", "metrics"])
def test_groups_of_a_room_import_each_other_in_no_circle(within: str) -> None:
    """A group is a folder of a room; what several groups share stands in the room itself."""
    uses: dict[str, set[str]] = {}
    for path in (p for p in modules() if place(p).startswith(f"{within}/") and place(p).count("/") > 1):
        group = place(path).split("/")[1]
        others = {name.split(".")[2] for name in imports(path) if name.startswith(f"nlgauge.{within}.")}
        uses[group] = uses.get(group, set()) | {o for o in others if o != group and (SRC / within / o).is_dir()}
    graphlib.TopologicalSorter(uses).prepare()  # a CycleError names the circle


@each_module
def test_only_the_top_and_nouns_look_through_the_door(path: Path) -> None:
    if "nlgauge" in imports(path):
        assert room(path) in ("cli", "report") or place(path) in LOOKS_UP


@each_module
def test_nouns_look_up_inside_methods_only(path: Path) -> None:
    if place(path) in LOOKS_UP:
        top = tree(path).body
        names = {a.name for node in top if isinstance(node, ast.Import) for a in node.names}
        assert "nlgauge" not in names


@each_module
def test_names_are_looked_up_downward_only(path: Path) -> None:
    here = room(path)
    looked_up = re.compile(r'(?:registry\.|(?<![.\w]))(?:get|names)\(\s*"(\w+)"')
    for kind in looked_up.findall(path.read_text()):
        if kind in FOLDERS:
            assert level(FOLDERS[kind].split(".")[1]) >= level(here), f"{place(path)} looks up a {kind}"


@each_module
def test_no_room_imports_private_modules_of_another(path: Path) -> None:
    for name in imports(path):
        parts = name.split(".")
        private = [part for part in parts if part.startswith("_") and part != "__version__"]
        assert not private or parts[1] == room(path), f"{place(path)} imports {name}"


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    found = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in found if argument.arg not in ("self", "cls")]


def is_analysis(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Call) and getattr(d.func, "id", "") == "analysis" for d in node.decorator_list)


def exported() -> set[str]:
    """File and name of every function and class that users import or that a verb is made of."""
    found = [getattr(door, name) for door in DOORS for name in door.__all__]
    found = [thing for thing in found if not inspect.ismodule(thing)]
    verbs = [verb.function for each in VERBS.values() for verb in (each.inner or {"": each}).values()]
    return {verb.removeprefix("nlgauge.").replace(".", "/").replace(":", ".py:") for verb in verbs} | {
        f"{o.__module__.removeprefix('nlgauge.').replace('.', '/')}.py:{o.__name__}" for o in found
    }


def has_options(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """At most three parameters may be given without their name."""
    plain = [argument for argument in (*node.args.posonlyargs, *node.args.args) if argument.arg not in ("self", "cls")]
    return not node.name.startswith("_") and len(plain) <= 3


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All of a file, each with the class that it stands in."""
    owner = {id(child): node.name for node in nodes(path) if isinstance(node, ast.ClassDef) for child in node.body}
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield owner.get(id(node), ""), node


def test_functions_have_few_parameters() -> None:
    public = exported()
    found = {
        f"{place(path)}:{node.name}"
        for path in modules()
        if room(path) not in ("cli", "kernels")
        for within, node in functions(path)
        if len(parameters(node)) > MOST_PARAMETERS
        and not is_analysis(node)
        and not (f"{place(path)}:{within or node.name}" in public and has_options(node))
    }
    assert found == set(), "give these an options object"


def test_each_class_name_stands_once() -> None:
    where: dict[str, list[str]] = {}
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, []).append(place(path))
    assert {name: files for name, files in where.items() if len(files) > 1} == {}


def test_no_folder_holds_more_than_twenty_files_of_one_kind() -> None:
    """`kernels` holds two kinds, for numbers and for texts: compiled modules that import each other's C lie in one
    folder.
    """
    count = Counter(place(p.parent) for p in modules() if not p.name.startswith("_"))
    assert {folder: n for folder, n in count.items() if n > 20 and folder != "kernels"} == {}


@each_module
def test_a_folder_says_what_lives_there(path: Path) -> None:
    if path.name == "__init__.py" and path.parent != SRC:
        assert len(ast.get_docstring(tree(path)) or "") > 20


@each_module
def test_files_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 480


def loaded(statement: str) -> set[str]:
    """Modules that a fresh interpreter holds after a statement."""
    code = f"import sys; {statement}; print(' '.join(sorted(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {name.split(".")[0] for name in out.split("\n")[-2].split()}


def test_import_nlgauge_loads_nothing_heavy() -> None:
    assert not loaded("import nlgauge") & (HEAVY | {"polars", "numpy"})


def test_help_loads_nothing_heavy() -> None:
    assert not loaded("from nlgauge.cli import build; build()") & (HEAVY | {"polars", "numpy"})


def test_a_report_loads_no_network() -> None:
    """Prices of judges stand in every report; asking judges does not."""
    assert not loaded("from nlgauge.report import sections; import nlgauge.metrics.judge.cost") & {"asyncio", "ssl"}


def test_loading_data_loads_no_kernels() -> None:
    code = (
        "import sys, nlgauge as ng; ng.example(); print(sorted(m for m in sys.modules if "
        "m.startswith('nlgauge.kernels.')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[-2] in ("[]", "['nlgauge.kernels.shared']")  # numbers, nothing compiled


def test_correlate_of_a_small_table_loads_nothing_slow(tmp_path: Path) -> None:
    rows = [f"{s},{i},{(i * k) % 5},{i + k},{i * k % 7}" for k, s in enumerate("ABCD") for i in range(9)]
    (tmp_path / "scores.csv").write_text("\n".join(["system,input,quality,m,n", *rows]) + "\n")
    code = (
        "import sys\n"
        "from nlgauge.cli import main\n"
        "sys.argv = ['nlgauge', 'analyze', 'correlate', 'scores.csv']\n"
        "try:\n    main()\n"
        "finally:\n    print('\\n' + ' '.join(sys.modules), file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    there = set(run.stderr.split("\n")[-2].split())
    slow = {
        "scipy.stats",
        "plotly",
        "jinja2",
        "torch",
        "httpx",
        "httpx2",
        "pandas",
        "pyarrow",
        "narwhals",
        "rich.progress",
    }
    assert not there & slow
    assert (
        len({name for name in there if name.startswith("nlgauge.analyses.")}) < 15
    )  # the one asked for, and its parts


NAMESPACES = ("datasets", "judges", "metrics", "plugins", "stats")


def test_the_package_of_the_papers_imports_public_names_only() -> None:
    """`nlgauge` and the namespaces below it, each by the names of its `__all__`: what a stranger can use too."""
    public = {"nlgauge": set(nlgauge.__all__)}
    public |= {f"nlgauge.{name}": set(importlib.import_module(f"nlgauge.{name}").__all__) for name in NAMESPACES}
    wrong = []
    waiting = {"command.py"}  # for the generated commands
    for path in sorted(PAPERS.rglob("*.py")):
        if path.name in waiting:
            continue
        for node in nodes(path):
            if isinstance(node, ast.Import):
                wrong += [f"{path.name}: {a.name}" for a in node.names if a.name.startswith("nlgauge.")]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "nlgauge":
                known = public.get(str(node.module), set())
                wrong += [f"{path.name}: {node.module}.{a.name}" for a in node.names if a.name not in known]
    assert wrong == []


def test_public_names_exist_and_functions_say_what_they_take_and_return() -> None:
    wanting = []
    for namespace in NAMESPACES:
        module = importlib.import_module(f"nlgauge.{namespace}")
        for name in module.__all__:
            thing = getattr(module, name)
            text = inspect.getdoc(thing) or ""
            if inspect.isfunction(thing):
                takes = inspect.signature(thing).parameters and "Parameters\n---" not in text
                returns = (
                    inspect.signature(thing).return_annotation not in ("None", None) and "Returns\n---" not in text
                )
                wanting += [f"{namespace}.{name}"] if takes or returns else []
            elif inspect.isclass(thing) and not text:
                wanting.append(f"{namespace}.{name}")
    assert wanting == []


def test_public_names_are_used_by_the_papers_or_stand_in_the_docs() -> None:
    root = SRC.parent.parent
    files = [*PAPERS.rglob("*.py"), *(root / "docs").rglob("*.md"), root / "README.md"]
    words = set(re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in files)))
    modules = [importlib.import_module(f"nlgauge.{name}") for name in NAMESPACES]
    assert {name for module in modules for name in module.__all__} - words == set()


def test_public_namespaces_load_nothing_before_a_name_is_used() -> None:
    names = ", ".join(f"nlgauge.{name}" for name in NAMESPACES)
    assert not loaded(f"import {names}") & (HEAVY | {"polars", "numpy"})


def test_the_product_does_not_know_the_package_of_the_papers() -> None:
    assert [place(path) for path in modules() if "nlgauge_papers" in path.read_text(encoding="utf-8")] == []


# --- the shape of functions and files, room by room ---------------------------------------------------------------

PAPERS = SRC.parents[1] / "papers" / "src" / "nlgauge_papers"
Function = ast.FunctionDef | ast.AsyncFunctionDef
MOST_LINES = 60  # of a function without its docstring
# Rooms that do not follow a rule yet. A room that follows it must leave the list, and none may be added.
UNFINISHED: dict[str, set[str]] = {
    "docstrings": set(),
    "lines": {"data"},
    "parameters": set(),
    "late imports": set(),
    "formatter": set(),
}
# Compiled inner loops: split, the tokenizer takes 1.1 to 1.2 times as long, and meteor.py has more than 480 lines.
LONG_KERNELS = {"meteor._search", "tokens._encode"}


def all_modules() -> list[tuple[str, Path]]:
    """Return the room and the path of each module of both packages; the papers are one room."""
    return [(room(path), path) for path in modules()] + [("papers", path) for path in sorted(PAPERS.rglob("*.py"))]


def check_rooms(rule: str, problems: list[tuple[str, str]]) -> None:
    """Fail for problems in a room that follows the rule, and for a room on the list that follows it by now."""
    open_rooms = UNFINISHED[rule]
    listed = [text for where, text in problems if where not in open_rooms]
    assert not listed, f"{rule}: {len(listed)} problems\n" + "\n".join(listed)
    finished = open_rooms - {where for where, _ in problems}
    assert not finished, f"take these rooms out of UNFINISHED[{rule!r}]: {sorted(finished)}"


def label(path: Path, line: int, name: str = "") -> str:
    return f"{path.relative_to(SRC.parents[1]).as_posix()}:{line} {name}".strip()


@cache
def documented_methods() -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """Return the methods with a docstring and the names of the bases of each class of our own."""
    classes = [n for _, path in all_modules() for n in nodes(path) if isinstance(n, ast.ClassDef)]
    methods = {c.name: {f.name for f in c.body if isinstance(f, Function) and ast.get_docstring(f)} for c in classes}
    return methods, {c.name: [ast.unparse(base).split(".")[-1].split("[")[0] for base in c.bases] for c in classes}


def inherits_docstring(cls: str, method: str) -> bool:
    methods, bases = documented_methods()
    return any(method in methods.get(base, ()) or inherits_docstring(base, method) for base in bases.get(cls, []))


def public_functions(body: list[ast.stmt], cls: str = "") -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module and the methods of its public classes, with the name of the class."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from public_functions(node.body, node.name)
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield cls, node


def test_public_functions_have_a_docstring() -> None:
    """A method that overrides a documented one inherits its docstring; a setter and an overload share another's."""
    problems = []
    for where, path in all_modules():
        for cls, node in public_functions(tree(path).body):
            shared = any(ast.unparse(d).endswith((".setter", "overload")) for d in node.decorator_list)
            if not (ast.get_docstring(node) or shared or inherits_docstring(cls, node.name)):
                problems.append((where, label(path, node.lineno, f"{cls}.{node.name}".lstrip("."))))
    check_rooms("docstrings", problems)


def test_functions_are_short() -> None:
    """Public functions are exempt: their signatures and docstrings declare the options."""
    problems, public = [], exported()
    for where, path in all_modules():
        for node in (n for n in nodes(path) if isinstance(n, Function)):
            said = node.body[0] if ast.get_docstring(node) else None
            lines = node.end_lineno - node.lineno + 1 - (said.end_lineno - said.lineno + 1 if said else 0)  # type: ignore[operator]
            file = path.relative_to(SRC if path.is_relative_to(SRC) else PAPERS).as_posix()
            exempt = f"{path.stem}.{node.name}" in LONG_KERNELS or f"{file}:{node.name}" in public
            if lines > MOST_LINES and not exempt:
                problems.append((where, label(path, node.lineno, f"{node.name}: {lines} lines")))
    check_rooms("lines", problems)


def test_functions_of_the_papers_have_few_parameters() -> None:
    """The function of the verb `reproduce` is public: its signature declares the options."""
    problems = [
        (where, label(path, node.lineno, node.name))
        for where, path in all_modules()
        for _, node in functions(path)
        if where == "papers" and len(parameters(node)) > MOST_PARAMETERS and not is_analysis(node)
        if (path.name, node.name) != ("command.py", "reproduce")
    ]
    check_rooms("parameters", problems)


def ours(node: ast.AST) -> bool:
    """Whether a statement imports a module of our own."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in ("nlgauge", "nlgauge_papers") or node.level > 0
    return isinstance(node, ast.Import) and any(a.name.startswith("nlgauge") for a in node.names)


def has_reason(path: Path, line: int) -> bool:
    """Whether `# Imported late: …` stands directly above this import, or above the imports that it follows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    above = line - 2
    while lines[above].strip().startswith(("from ", "import ")):
        above -= 1
    while lines[above].strip().startswith("#") and "Imported late:" not in lines[above]:
        above -= 1
    return "# Imported late: " in lines[above]


def test_our_own_modules_are_imported_at_the_top() -> None:
    """Except in the method of a noun that calls its api function, in a package's `__getattr__` of lazy names, and
    where a comment `# Imported late: …` says what the import would load that most runs do not need.
    """
    problems = []
    for where, path in all_modules():
        for function in (n for n in nodes(path) if isinstance(n, Function) and n.name != "__getattr__"):
            for node in (n for n in ast.walk(function) if ours(n)):
                noun = where != "papers" and place(path) in LOOKS_UP and ast.unparse(node) == "import nlgauge"
                if not noun and not has_reason(path, node.lineno):
                    problems.append((where, label(path, node.lineno, ast.unparse(node))))
    check_rooms("late imports", sorted(set(problems)))


def is_literal(node: ast.AST | None) -> bool:
    """Whether a value is a table written out: a literal container, or a call that only wraps one."""
    if isinstance(node, ast.Call):
        return len(node.args) == 1 and is_literal(node.args[0])
    return isinstance(node, ast.Dict | ast.List | ast.Set | ast.Tuple)


def test_the_formatter_is_switched_off_for_literals_only() -> None:
    problems = []
    for where, path in all_modules():
        ends = {n.end_lineno: n for n in reversed([*nodes(path)]) if isinstance(n, ast.stmt)}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"#\s*fmt:\s*(skip|off)", line):
                node = ends.get(number)
                if not (isinstance(node, ast.Assign | ast.AnnAssign) and is_literal(node.value)):
                    problems.append((where, label(path, number)))
    check_rooms("formatter", problems)
