"""Problems with known answers, and how close each solver comes to them.

A problem is a function `problem(backend, full) -> list[Check]`. A solver lists the names of its
problems, "module:function", in its `verification` package; they are loaded when they are run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groundswell import registry
from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError

Problem = Callable[[Backend, bool], "list[Check]"]


@dataclass(frozen=True)
class Check:
    """One number that a solver reached, and what it had to be.

    Args:
        name: problem and quantity, e.g. "plane wave: spatial order".
        value: what came out.
        reference: what an exact computation gives; None where the tolerance says it all.
        tolerance: what is allowed, for a reader: "<= 2", ">= 3.8", "+- 0.1".
        unit: of value, reference and tolerance; "" for a plain number.
        passed: whether `value` is allowed. A value that is not finite never is.
        note: what a reader should know to judge the number.
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


def run_checks(
    solver: str | None,
    *,
    full: bool = False,
    backend: str = "cpu",
    progress: Callable[[str], None] | None = None,
) -> list[Check]:
    """Run the problems of one solver, or of all, and return every check, failed ones included.

    Args:
        solver: its name; None for all that have problems.
        full: finer and larger problems, for a GPU; otherwise each takes seconds on a CPU.
        backend: "cpu" or "cuda".
        progress: called with the name of each problem before it starts.

    Raises:
        InputError: the solver is unknown. BackendError: the backend is unknown or absent.
    """
    machine = open_backend(backend)
    checks: list[Check] = []
    for name in problem_names(solver):
        if progress:
            progress(name)
        checks += load_problem(name)(machine, full)
    return checks


def problem_names(solver: str | None) -> list[str]:
    """The problems of one solver, or of all: "solver/module:function"."""
    chosen = registry.solvers() if solver is None else [registry.find(solver)]
    having = [info for info in chosen if info.has("problems")]
    if not having:
        raise InputError(f"solver {solver!r} has no problems with known answers")
    return [f"{info.name}/{entry}" for info in having for entry in info.load("problems")]


def load_problem(name: str) -> Problem:
    """The problem of that name, its module imported now."""
    solver, _, entry = name.partition("/")
    info = registry.find(solver)
    package = info.problems.partition(":")[0]
    found: Problem = info.resolve(f"{package}.{entry}")
    return found
