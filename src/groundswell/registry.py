"""The registry of installed solvers, which are imported only when they are used.

A package registers a solver with an entry point of the group `groundswell.solvers` that refers to
its `SolverInfo`. `cli`, `simulation`, `verify`, `bench` and `report` use solvers through it alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from groundswell.errors import InputError, did_you_mean, listed, quoted

GROUP = "groundswell.solvers"
# What each result offers besides the readers and methods of its solver, from packages above.
COMMON = {"plot": "groundswell.report.notebook:plot"}
_SHOWN = "groundswell.report.notebook:show_run"

Component = Literal[
    "case",
    "prepare",
    "check",
    "cost",
    "solver",
    "kernel_groups",
    "pictures",
    "problems",
    "benchmarks",
]


@dataclass(frozen=True)
class SolverInfo:
    """Describes a solver and refers to its parts.

    References are strings "module:attribute", or "module" for a module; a leading dot makes them
    relative to `package`. `simulation/solver.py` defines the interface of the parts.

    Args:
        name: the name of the solver in cases.
        title: two or three words, for tables.
        summary: one sentence on what it computes.
        package: the solver's Python package.
        case: class of its cases, a subclass of `case.Case`.
        prepare: function `(case, communicator) -> Setup`, the host-side preparation.
        check: module that is a `Check`: what `groundswell check` prints.
        cost: module that is a `CostModel`: memory, traffic and size of the results.
        solver: class or function `(setup, backend, communicator) -> Solver`.
        kernel_groups: mapping from names of kernels, and of other launches, to groups by which runs
            report the time of a step.
        pictures: list of `report.Picture`, the plots that it can make of a results folder.
        problems: list of names "module:function" of problems with known answers (see `verify`).
        benchmarks: its `bench.Benchmark`.
        template: file with a commented case, in `package`.
        results: readers of its result files, functions `(folder)`, by attribute of `Result`.
        methods: functions `(folder, ...)` that analyse results, by name of the method of `Result`.
        readers: readers of other input files, functions `(path) -> Case`, by suffix such as ".h5".
        converters: functions `(source, target) -> paths` that write other input files as cases, by
            suffix.
        commands: functions with arguments and options as `typer` reads them, which become commands
            of the command line, by name. Their modules are imported whenever it starts.
        commands_of_all_ranks: names of those that all ranks of a job run; rank 0 runs the others.
        agreement: how far results on different numbers of ranks agree, such as "to rounding"; ""
            if they are bit-identical.
    """

    name: str
    title: str
    summary: str
    package: str
    case: str = ".case:Case"
    prepare: str = ".setup:prepare"
    check: str = ".check"
    cost: str = ".cost"
    solver: str = ".solver:Solver"
    kernel_groups: str = ""
    pictures: str = ""
    problems: str = ""
    benchmarks: str = ""
    template: str = "template.toml"
    results: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)
    converters: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    commands_of_all_ranks: Collection[str] = ()
    agreement: str = ""

    def has(self, part: Component) -> bool:
        """Whether the solver has an optional part."""
        return bool(getattr(self, part))

    def load(self, part: Component) -> Any:
        """The object that a part refers to.

        Raises:
            InputError: the solver has no such part.
        """
        if not self.has(part):
            raise InputError(f"the solver {quoted(self.name)} has no {part}")
        return self.resolve(getattr(self, part))

    @property
    def all_methods(self) -> Mapping[str, str]:
        """The methods of its results, with those that all solvers share."""
        return {**COMMON, **self.methods}

    def resolve(self, reference: str) -> Any:
        """The object that "module:attribute" or "module" refers to, relative to the package."""
        return _resolve(reference, self.package)

    def read_template(self) -> str:
        """The text of the solver's commented case."""
        return (files(self.package) / self.template).read_text(encoding="utf-8")


def _resolve(reference: str, package: str | None = None) -> Any:
    name, _, attribute = reference.partition(":")
    module = import_module(name, package)
    return attrgetter(attribute)(module) if attribute else module


def show_in_notebook(folder: Path) -> str:
    """HTML of a results folder, of any solver; see `report.notebook`."""
    return str(_resolve(_SHOWN)(folder))


@cache
def _entry_points() -> dict[str, list[EntryPoint]]:
    """The entry points by solver; several packages may claim the same name."""
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def names() -> list[str]:
    """Names of all installed solvers."""
    return list(_entry_points())


@cache
def find(name: str) -> SolverInfo:
    """The solver of this name.

    Raises:
        InputError: no package or several packages offer it, or its package cannot be imported.
    """
    points = _entry_points()
    if name not in points:
        raise InputError(
            f"no solver is called {quoted(name)}; use {listed(points)}{did_you_mean(name, points)}"
        )
    point, *others = points[name]
    if others:
        packages = " and ".join(each.value for each in points[name])
        raise InputError(f"{packages} both offer a solver {quoted(name)}; remove one of them")
    try:
        info = point.load()
    except Exception as error:  # another package's code may raise anything
        raise InputError(
            f"the solver {quoted(name)} ({point.value}) cannot be imported: {error}; "
            "reinstall or remove its package"
        ) from error
    if not isinstance(info, SolverInfo):
        raise InputError(f"{point.value} is not a SolverInfo; fix or remove its package")
    return info


def solvers() -> list[SolverInfo]:
    """All installed solvers.

    Raises:
        InputError: one cannot be imported.
    """
    return [find(name) for name in names()]


def versions_of(name: str) -> dict[str, str]:
    """Name and version of the package that offers a solver, unless it is Groundswell itself."""
    packages = [point.dist for point in _entry_points().get(name, ())]
    return {p.name: p.version for p in packages if p is not None and p.name != "groundswell"}


def reader_of(suffix: str) -> tuple[SolverInfo, str] | None:
    """The solver that reads files with a suffix, such as ".h5", and the reference of its reader."""
    for info in solvers():
        if suffix in info.readers:
            return info, info.readers[suffix]
    return None


def converter_of(suffix: str) -> Any:
    """The function that writes input files with a suffix as cases.

    Raises:
        InputError: no installed solver has one.
    """
    for info in solvers():
        if suffix in info.converters:
            return info.resolve(info.converters[suffix])
    known = sorted({suffix for info in solvers() for suffix in info.converters})
    raise InputError(
        f"no installed solver writes {quoted(suffix)} files as cases; give one of {listed(known)}"
    )


def commands_of_all_ranks() -> set[str]:
    """Names of the commands of solvers that all ranks of a job run."""
    found: set[str] = set()
    for name in names():
        with suppress(InputError):
            found.update(find(name).commands_of_all_ranks)
    return found


def commands() -> dict[str, Any]:
    """The functions of the commands that solvers add, by name; the first one of a name counts.

    A solver that cannot be imported adds none: it must not prevent other commands.
    """
    found: dict[str, Any] = {}
    for name in names():
        with suppress(InputError, ImportError, AttributeError):
            info = find(name)
            for command, reference in info.commands.items():
                found.setdefault(command, info.resolve(reference))
    return found
