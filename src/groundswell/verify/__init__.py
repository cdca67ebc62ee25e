"""Verification: problems with known answers, and the errors of each solver.

A problem is a function `problem(backend, full)` that returns or yields `Check`s. A solver lists the
names of its problems in its module `verification`, or as "module:function" of a package of that
name. They are imported when they run. `needs` declares the libraries of a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import isfinite
from typing import Any, Literal

from groundswell import registry
from groundswell.backends import Backend, open_backend
from groundswell.errors import GroundswellError, InputError, install, quoted

VerificationProblem = Callable[[Backend, bool], "Iterable[Check]"]
Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Check:
    """The computed value of a quantity and its tolerance.

    Args:
        name: problem and quantity, e.g. "plane wave: spatial order".
        value: the computed value.
        reference: the exact value; None if the tolerance is a bound.
        tolerance: the allowed range as text: "<= 2", ">= 3.8", "+- 0.1".
        unit: unit of value, reference and tolerance; "" for a plain number.
        passed: whether `value` is within the tolerance. A value that is not finite never is.
        note: a remark that helps to judge the value.
    """

    name: str
    value: float
    reference: float | None
    tolerance: str
    unit: str
    passed: bool
    note: str = ""

    @classmethod
    def at_most(
        cls, name: str, value: float, limit: float, unit: str = "", note: str = ""
    ) -> Check:
        """Passes up to and including `limit`."""
        return cls(name, float(value), None, f"<= {limit:g}", unit, bool(value <= limit), note)

    @classmethod
    def at_least(
        cls, name: str, value: float, limit: float, unit: str = "", note: str = ""
    ) -> Check:
        """Passes from `limit` upwards."""
        enough = bool(limit <= value < float("inf"))
        return cls(name, float(value), None, f">= {limit:g}", unit, enough, note)

    @classmethod
    def near(
        cls,
        name: str,
        value: float,
        reference: float,
        tolerance: float,
        unit: str = "",
        note: str = "",
    ) -> Check:
        """Passes within `tolerance` (in the same unit) of `reference`."""
        close = bool(abs(value - reference) <= tolerance)
        return cls(name, float(value), float(reference), f"+- {tolerance:g}", unit, close, note)


@dataclass(frozen=True)
class Row:
    """A row of the verification table: a check of a problem, or the reason why there is none.

    Args:
        problem: its name, "solver/module:function".
        status: "passed", "failed" or "skipped".
        check: the check; None if the problem was skipped or ended with an error.
        message: the reason for skipping it, or the error.
    """

    problem: str
    status: Status
    check: Check | None = None
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON; a value that is not finite becomes None."""
        about = {"problem": self.problem, "status": self.status, "message": self.message}
        if self.check is None:
            return about
        value = self.check.value
        return about | asdict(self.check) | {"value": value if isfinite(value) else None}


# --- optional libraries ---------------------------------------------------------------------------


def needs(module: str, extra: str) -> Callable[[VerificationProblem], VerificationProblem]:
    """Declare a library that a problem needs; without it the problem is skipped.

    Args:
        module: module that the problem imports.
        extra: extra of Groundswell that installs it.
    """

    def mark(problem: VerificationProblem) -> VerificationProblem:
        problem.__dict__.setdefault(NEEDS, {})[module] = extra
        return problem

    return mark


NEEDS = "_needs"


def lacks(problem: VerificationProblem) -> list[str]:
    """What a problem needs and is not installed, and how to install it."""
    return [
        f"needs {module}; {install(extra)}"
        for module, extra in getattr(problem, NEEDS, {}).items()
        if find_spec(module) is None
    ]


# --- running problems -----------------------------------------------------------------------------


def run_problems(
    solver: str | None,
    *,
    full: bool = False,
    backend: str = "cpu",
    only: str = "",
    progress: Callable[[str], None] | None = None,
) -> Iterator[Row]:
    """Run the problems of one or all solvers, and yield each row as soon as it is known.

    Missing libraries are detected before the first problem runs. After a failure or an error, the
    other problems still run.

    Args:
        solver: name of the solver; None for all that have problems.
        full: finer and larger problems, for a GPU; otherwise each takes seconds on a CPU.
        backend: "cpu" or "cuda".
        only: text that the names of problems must contain.
        progress: called with the name of each problem before it starts.

    Raises:
        InputError: the solver is unknown, or no problem has such a name.
        BackendError: the backend is unknown or missing.
    """
    machine = open_backend(backend)
    outcomes = {name: _ready(name) for name in _with_text(only, problem_names(solver))}
    return _run_all(outcomes, machine, full, progress or (lambda name: None))


def _with_text(text: str, names: list[str]) -> list[str]:
    """The names that contain a text."""
    found = [name for name in names if text in name]
    if not found:
        raise InputError(
            f"no problem has {quoted(text)} in its name; there are: {', '.join(names)}"
        )
    return found


def _ready(name: str) -> VerificationProblem | Row:
    """A problem that can run, or the row with the reason why it cannot."""
    try:
        problem = load_problem(name)
    except Exception as error:  # another package's code may raise anything
        return _failed(name, error)
    missing = lacks(problem)
    return Row(name, "skipped", message="; ".join(missing)) if missing else problem


def _run_all(
    outcomes: dict[str, VerificationProblem | Row],
    backend: Backend,
    full: bool,
    progress: Callable[[str], None],
) -> Iterator[Row]:
    yield from (row for row in outcomes.values() if isinstance(row, Row))
    for name, problem in outcomes.items():
        if not isinstance(problem, Row):
            progress(name)
            yield from _rows(name, problem, backend, full)


def _rows(name: str, problem: VerificationProblem, backend: Backend, full: bool) -> Iterator[Row]:
    """The checks of one problem, and its error if there is one."""
    try:
        for check in problem(backend, full):
            yield Row(name, "passed" if check.passed else "failed", check)
    except Exception as error:  # the other problems must still run
        yield _failed(name, error)


def _failed(name: str, error: Exception) -> Row:
    kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
    return Row(name, "failed", message=f"{kind}{error}")


def problem_names(solver: str | None) -> list[str]:
    """Names of the problems of one or all solvers: "solver/module:function".

    Raises:
        InputError: the solver is unknown or has no problems.
    """
    chosen = registry.solvers() if solver is None else [registry.find(solver)]
    having = [info for info in chosen if info.has("problems")]
    if not having and solver is None:
        raise InputError(
            "no installed solver has problems with known answers; install Groundswell with pip, "
            "which registers its solvers"
        )
    if not having:
        raise InputError(f"the solver {quoted(str(solver))} has no problems with known answers")
    return [f"{info.name}/{entry}" for info in having for entry in info.load("problems")]


def load_problem(name: str) -> VerificationProblem:
    """Import the problem with this name."""
    solver, _, entry = name.partition("/")
    info = registry.find(solver)
    package = info.problems.partition(":")[0]
    inside = f"{package}.{entry}" if ":" in entry else f"{package}:{entry}"
    found: VerificationProblem = info.resolve(inside)
    return found
