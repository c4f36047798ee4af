"""Mutation testing: the share of small changes to a module that the tests notice.

    python tools/mutate.py src/nlgauge/scoring/store.py --tests tests/scoring --out now.json
    python tools/mutate.py --compare before.json now.json

Every mutant changes one place in the body of a function. The tests are collected once. One run of them on the unchanged
module records which test reaches which statement. Then each mutant gets a fork of the process, in which the changed
function replaces the original and the tests that reach the changed statement run until one fails: the quickest first,
and for at most `--limit` CPU seconds by the first run. A mutant that exceeds its time limit counts as killed.

The sample depends on the seed and on the text of each mutant only, so two versions of a module share most of their
mutants, and `--compare` compares those one by one. Two things are not mutated: statements outside functions, and code
that a test runs in a new interpreter, because the change exists in the forked process only.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import copy
import functools
import gc
import hashlib
import importlib
import itertools
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import hypothesis
import numpy  # noqa: F401  imported once, before the forks
import polars  # noqa: F401
import pytest
import scipy.special
import scipy.stats  # noqa: F401

COMPARISONS: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SURVIVED, KILLED, INVALID, BROKEN = 0, 1, 2, 3  # exit codes of a fork
OUTCOMES = {SURVIVED: "survived", KILLED: "killed", INVALID: "invalid", BROKEN: "broken"}
ALIVE = ("survived", "not reached")


@dataclass
class Mutant:
    """One changed place: where the new node goes, and the statement whose tests must notice it."""

    key: str
    function: str
    line: int
    statement: int
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST

    def compiled(self, tree: ast.Module, path: str) -> CodeType:
        """Return the code of the module with this change; the tree is as before afterwards."""
        original = getattr(self.parent, self.field)
        if self.index is None:
            changed: Any = self.node
        else:
            changed = [*original[: self.index], self.node, *original[self.index + 1 :]]
        setattr(self.parent, self.field, changed)
        try:
            return compile(ast.fix_missing_locations(tree), path, "exec")
        finally:
            setattr(self.parent, self.field, original)


def alternatives(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the name of an operator and the node that replaces this one, for each operator that applies."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            new = copy.deepcopy(node)
            new.ops[i] = COMPARISONS[type(op)]()
            yield "comparison", new
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        new = copy.deepcopy(node)
        new.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", new
    elif isinstance(node, ast.BoolOp):
        new = copy.deepcopy(node)
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "boolean", new
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "boolean", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "constant", ast.Constant(node.value + 1 if node.value + 1 != node.value else 0.0)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield "return", ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Continue | ast.Break):
        yield "jump", ast.Break() if isinstance(node, ast.Continue) else ast.Continue()
    elif (
        isinstance(node, ast.Call)
        and len(node.args) > 1
        and not any(isinstance(a, ast.Starred) for a in node.args)
        and ast.dump(node.args[0]) != ast.dump(node.args[1])
    ):
        new = copy.deepcopy(node)
        new.args[:2] = new.args[1::-1]
        yield "arguments", new
    if (
        isinstance(node, ast.AugAssign | ast.Raise | ast.Assert | ast.Delete)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or (isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple))
    ):
        yield "removal", ast.Pass()


def statements(tree: ast.Module) -> dict[ast.stmt, int]:
    """Number the statements inside functions, in the order of the file."""
    inside: dict[ast.stmt, int] = {}
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)):
        for top in function.body:
            for node in (n for n in ast.walk(top) if isinstance(n, ast.stmt)):
                inside.setdefault(node, 0)
    return {node: i for i, node in enumerate(sorted(inside, key=lambda n: (n.lineno, n.col_offset)))}


def mutants(tree: ast.Module) -> list[Mutant]:
    """Return all mutants of a module, in the order of the file."""
    number, times = statements(tree), Counter[str]()
    listed: list[Mutant] = []

    def visit(node: ast.AST, function: str, statement: ast.stmt | None) -> None:
        for field, value in ast.iter_fields(node):
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST):
                    continue
                inner = child if isinstance(child, ast.stmt) and child in number else statement
                if inner is not None and field not in ("annotation", "returns", "decorator_list"):
                    header = ast.unparse(inner).splitlines()[0]
                    for operator, new in alternatives(child):
                        text = f"{operator}: {ast.unparse(child)} -> {ast.unparse(new)} in: {header}"
                        times[text] += 1
                        ast.copy_location(new, child)
                        line = getattr(child, "lineno", inner.lineno)
                        key = f"{text} #{times[text]}"
                        listed.append(Mutant(key, function, line, number[inner], node, field, index, new))
                named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                visit(child, f"{function}.{child.name}".lstrip(".") if named else function, inner)

    visit(tree, "", None)
    return listed


def sample(listed: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return the mutants that come first by a hash of seed and text, in the order of the file."""
    first = sorted(listed, key=lambda m: hashlib.sha256(f"{seed} {m.key}".encode()).digest())[:size]
    return sorted(first, key=listed.index)


def with_probes(tree: ast.Module, path: str) -> CodeType:
    """Return the code of the module in which each statement of a function reports its number before it runs."""
    probed = copy.deepcopy(tree)
    number = statements(probed)

    def probe(node: ast.stmt) -> ast.stmt:
        call = ast.Call(ast.Name("__reach__", ast.Load()), [ast.Constant(number[node])], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))

    for node in [n for n in ast.walk(probed) if isinstance(n, ast.AST)]:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and block[0] in number:
                setattr(node, field, [new for old in block for new in (probe(old), old)])
    return compile(ast.fix_missing_locations(probed), path, "exec")


def swap(module: CodeType) -> None:
    """Give every function of the running module that has changed its new code; ValueError where that is impossible."""
    codes: dict[tuple[str, int], CodeType] = {}
    waiting = [module]
    while waiting:
        inner = [c for c in waiting.pop().co_consts if isinstance(c, CodeType)]
        codes |= {(c.co_qualname, c.co_firstlineno): c for c in inner}
        waiting += inner
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == module.co_filename:
            new = codes.get((thing.__code__.co_qualname, thing.__code__.co_firstlineno))
            if new is not None and new != thing.__code__:
                thing.__code__ = new


def caches(path: str) -> list[Any]:
    """Return the functions of a module that keep their results: a test that finds a result does not reach them."""
    wrapped = [t for t in gc.get_objects() if isinstance(t, functools._lru_cache_wrapper)]
    return [t for t in wrapped if getattr(t.__wrapped__, "__code__", swap.__code__).co_filename == path]


class Mutation:
    """A pytest plugin that runs the collected tests once with probes and then for each mutant."""

    def __init__(self, path: Path, arguments: argparse.Namespace) -> None:
        self.path, self.arguments = str(path.resolve()), arguments
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.failed = False
        self.rows: list[dict[str, Any]] = []

    def pytest_sessionstart(self) -> None:
        # Nobody reads the example that kills a mutant, so it need not be made small.
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutate", hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("mutate")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        started = time.monotonic()
        # A module that only a running test imports would be imported unchanged in each fork.
        parts = Path(self.path).with_suffix("").parts
        importlib.import_module(".".join(parts[len(parts) - parts[::-1].index("src") :]))
        items = {item.nodeid: item for item in session.items}
        reached = self.baseline(session, items)
        print(f"{self.path}: {len(reached)} of {len(items)} tests pass on the unchanged module")
        if not any(row["reached"] for row in reached.values()):
            pytest.exit(f"no test reaches {self.path}; is another copy of the package imported?", returncode=2)
        quick = sorted(reached, key=lambda name: reached[name]["cpu"])
        chosen = sample(mutants(self.tree), self.arguments.sample, self.arguments.seed)
        tests = {
            m.statement: self.affordable([n for n in quick if m.statement in reached[n]["reached"]], reached)
            for m in chosen
        }

        def outcome(code: Callable[[], CodeType], names: Collection[str]) -> str:
            return self.outcome(session, code, [items[n] for n in names], [reached[n] for n in names])

        # In this order and another process the unchanged module must pass, or else nothing below says anything.
        used = {name for names in tests.values() for name in names}
        if outcome(lambda: compile(self.tree, self.path, "exec"), [n for n in quick if n in used]) != "survived":
            pytest.exit("the tests fail on the unchanged module when the quick ones run first", returncode=2)
        for mutant in chosen:
            result = outcome(functools.partial(mutant.compiled, self.tree, self.path), tests[mutant.statement])
            row = {"key": mutant.key, "function": mutant.function, "line": mutant.line}
            self.rows.append({**row, "tests": len(tests[mutant.statement]), "outcome": result})
            if result in ALIVE:
                print(f"{result}: line {mutant.line}, {mutant.function}: {mutant.key}", flush=True)
        print(f"{summary(self.rows)}; {time.monotonic() - started:.0f} s")
        return True

    def affordable(self, names: list[str], reached: dict[str, dict[str, Any]]) -> list[str]:
        """Return the first tests, as many as fit into the limit on the CPU seconds of a mutant, but at least one."""
        sums = itertools.accumulate(reached[name]["cpu"] for name in names)
        return [
            name
            for i, (name, total) in enumerate(zip(names, sums, strict=True))
            if total < self.arguments.limit or not i
        ]

    def baseline(self, session: pytest.Session, items: dict[str, pytest.Item]) -> dict[str, dict[str, Any]]:
        """Return what each passing test reaches and how long it runs, measured in a fork."""
        with tempfile.NamedTemporaryFile("r") as file:

            def record() -> int:
                numbers: set[int] = set()
                builtins.__reach__ = numbers.add  # type: ignore[attr-defined]
                swap(with_probes(self.tree, self.path))
                rows: dict[str, dict[str, Any]] = {}
                cached = caches(self.path)
                listed = [*items.values()]
                for item, after in zip(listed, [*listed[1:], None], strict=True):
                    numbers.clear()
                    for function in cached:
                        function.cache_clear()
                    self.failed, wall, cpu = False, time.monotonic(), time.process_time()
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    if not self.failed:
                        seconds = {"seconds": time.monotonic() - wall, "cpu": time.process_time() - cpu}
                        rows[item.nodeid] = {"reached": sorted(numbers), **seconds}
                Path(file.name).write_text(json.dumps(rows))
                return SURVIVED

            if forked(session, record, math.inf, math.inf) != SURVIVED:
                pytest.exit("the run on the unchanged module ended early", returncode=2)
            rows: dict[str, dict[str, Any]] = json.load(file)
        return rows

    def outcome(
        self,
        session: pytest.Session,
        code: Callable[[], CodeType],
        items: list[pytest.Item],
        rows: list[dict[str, Any]],
    ) -> str:
        """Return what these tests say about the module with this code."""
        if not items:
            return "not reached"

        def run() -> int:
            try:
                swap(code())
                for function in caches(self.path):
                    function.cache_clear()
            except (ValueError, SyntaxError):
                return INVALID
            for item, after in zip(items, [*items[1:], None], strict=True):
                try:
                    session.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                except BaseException:  # the change ended the run itself
                    return KILLED
                if self.failed:
                    return KILLED
            return SURVIVED

        cpu = 10 + 3 * sum(row["cpu"] for row in rows)
        end = forked(session, run, cpu, 60 + 5 * sum(row["seconds"] for row in rows))
        return OUTCOMES.get(end, "time limit")


def forked(session: pytest.Session, work: Callable[[], int], cpu: float, wall: float) -> int:
    """Return the exit code of work done in a fork, or -1 where it exceeds its CPU seconds or seconds or crashes."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setsid()
        if cpu < math.inf:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu), math.ceil(cpu) + 5))
        session.config.pluginmanager.unregister(name="terminalreporter")
        try:
            os._exit(work())
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(BROKEN)
    end, done, status = time.monotonic() + wall, 0, 0
    try:
        while not done and time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0 if done else 0.005)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # also what the tests have started
        if not done:
            os.waitpid(child, 0)
    return os.WEXITSTATUS(status) if done and os.WIFEXITED(status) else -1


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the share of mutants that were killed, in words."""
    count = Counter(row["outcome"] for row in rows if row["outcome"] != "invalid")
    killed, every = count["killed"] + count["time limit"], count.total()
    parts = ", ".join(f"{n} {name}" for name, n in sorted(count.items()))
    return f"killed {killed} of {every} mutants ({killed / max(every, 1):.1%}): {parts}"


def compare(before: Path, now: Path) -> None:
    """Print the shares of two runs, on all their mutants and on those that both have."""
    old, new = ({row["key"]: row for row in json.loads(path.read_text())} for path in (before, now))
    shared = [key for key in new if key in old and "invalid" not in (old[key]["outcome"], new[key]["outcome"])]
    print(f"before: {summary([*old.values()])}\nnow:    {summary([*new.values()])}\nshared mutants:")
    print(f"before: {summary([old[k] for k in shared])}\nnow:    {summary([new[k] for k in shared])}")
    for key in shared:
        if new[key]["outcome"] in ALIVE and old[key]["outcome"] not in ALIVE:
            print(f"no longer killed: line {new[key]['line']}: {key}")


def main() -> None:
    """Run the mutants of a module, or compare two runs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("module", nargs="?", type=Path, help="the file to change")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="files or folders of tests")
    parser.add_argument("-m", dest="marked", default="not long", help="which marked tests run, as for pytest")
    parser.add_argument("--sample", type=int, default=200, help="mutants at most")
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument("--limit", type=float, default=10, help="CPU seconds of tests for one mutant, quickest first")
    parser.add_argument("--out", type=Path, help="a file for the outcome of each mutant")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "NOW"))
    arguments = parser.parse_args()
    if arguments.compare:
        compare(*arguments.compare)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end the fork as well
    plugin = Mutation(arguments.module, arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        options = f"-q -p no:cacheprovider -p no:xdist --basetemp={folder}/t".split()
        pytest.main([*options, "-m", arguments.marked, *arguments.tests], plugins=[plugin])
    if arguments.out:
        arguments.out.write_text(json.dumps(plugin.rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
