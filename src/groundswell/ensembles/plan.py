"""Plans: a base case, a table of runs and a store, as a TOML file or built in Python."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from groundswell.case.load import TOML, read_document
from groundswell.case.problems import Violation, problems_in
from groundswell.case.section import DataFile, FileName, NotEmpty, Section
from groundswell.case.units import Count
from groundswell.ensembles.rows import (
    Row,
    Settings,
    combinations,
    combined,
    name_problems,
    read_csv,
    settings_without_effect,
    zipped,
)
from groundswell.ensembles.samples import SampleSection
from groundswell.errors import CaseError, CaseProblem, InputError, quoted
from groundswell.formats.text import read_text

SUFFIX = ".zarr"
Lists = Mapping[str, Annotated[tuple[object, ...], NotEmpty]]


class PlanFile(Section):
    """The content of a plan; `columns`, `product` and the values of `sample` have keys of the case.

    `results` lists the results that the store keeps, by default all. `ranks_per_run` processes
    share each run; `launcher` starts them, by default mpiexec.
    """

    case: DataFile
    store: FileName | None = None
    title: str = ""
    results: Annotated[tuple[str, ...], NotEmpty] | None = None
    ranks_per_run: Count = 1
    launcher: str = ""
    table: DataFile | None = None
    columns: Lists = Field(default_factory=dict)
    product: Lists = Field(default_factory=dict)
    sample: SampleSection | None = None

    def violations(self) -> Iterator[Violation]:
        """No runs."""
        if not (self.table or self.columns or self.product or self.sample):
            yield (), "has no runs; give a table, [columns], [product] or [sample]"

    def rows(self) -> list[Row]:
        """The runs: all combinations of the rows of the tables that the plan gives.

        Raises:
            InputError: a table cannot be read, or two tables set the same key.
        """
        parts: list[Sequence[Settings]] = [
            read_csv(self.table) if self.table else [],
            zipped(self.columns) if self.columns else [],
            combinations(self.product) if self.product else [],
            self.sample.draw() if self.sample else [],
        ]
        return combined([part for part in parts if part])


@dataclass(frozen=True)
class Plan:
    """The base case and the runs of an ensemble.

    >>> import groundswell as gs
    >>> rows = [{"name": "weak", "fluid.rayleigh": 1e3}, {"name": "strong", "fluid.rayleigh": 1e5}]
    >>> plan = gs.ensembles.Plan.of("case.toml", rows, store="runs.zarr")
    >>> [row.name for row in plan.rows]
    ['weak', 'strong']

    Args:
        case: the base case: the path of its file (TOML), or its tables.
        rows: the runs.
        store: path of the Zarr store.
        folder: folder of relative file names in the case; by default that of its file.
        backend: replaces that of the case.
        title: title of the store.
        results: names of the results to keep, see `registry.SolverInfo.results`; all by default.
        ranks_per_run: number of processes that share a run.
        launcher: command that starts these processes, such as "srun -n 4"; by default mpiexec.
        source: name of the plan in messages.
        settings: values of the base case to replace, by path; some rows may replace them again.
    """

    case: Path | Mapping[str, Any]
    rows: Sequence[Row]
    store: Path
    folder: Path | None = None
    backend: str | None = None
    title: str = ""
    results: Sequence[str] | None = None
    ranks_per_run: int = 1
    launcher: str = ""
    source: str = "the plan"
    settings: Settings = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "store", Path(self.store).absolute())
        found = [*name_problems(self.rows), *settings_without_effect(self.settings, self.rows)]
        problems = [CaseProblem(key, "", text) for key, text in found]
        if problems:
            raise CaseError(problems, self.source)

    @classmethod
    def of(cls, case: str | Path, rows: Sequence[Settings], store: str | Path) -> Plan:
        """A plan whose rows map paths of keys to values; a row may also have a `name`."""
        return cls(Path(case), combined([rows]), Path(store))

    @property
    def needs_launcher(self) -> bool:
        """Whether a launcher starts the processes of each run."""
        return self.ranks_per_run > 1 or bool(self.launcher)

    def with_backend(self, backend: str | None) -> Plan:
        """The plan on another backend; None leaves it as it is."""
        return self if backend is None else replace(self, backend=backend)


def load_plan(path: str | Path) -> Plan:
    """Read a plan (TOML). File names are relative to its folder, where by default the store is.

    >>> import groundswell as gs
    >>> plan = gs.ensembles.load_plan("plan.toml")  # with two values of fluid.rayleigh
    >>> [row.settings for row in plan.rows]
    [{'fluid.rayleigh': 1000.0}, {'fluid.rayleigh': 2000.0}]

    Raises:
        InputError: the plan or its table cannot be read.
        CaseError: the plan is invalid; lists every problem.
    """
    path = Path(path)
    content = _content(path)
    if "solver" in content and "case" not in content:
        raise InputError(
            f"{path.name} is a case, not a plan; write a plan with case = {quoted(path.name)} and "
            "the values that differ from run to run, or execute the case by `groundswell run`"
        )
    try:
        plan = PlanFile.model_validate(content, context={"folder": path.parent.absolute()})
    except ValidationError as error:
        raise CaseError(problems_in(error, content), path.name) from None
    return Plan(
        plan.case,
        plan.rows(),
        plan.store or path.with_suffix(SUFFIX),
        title=plan.title,
        results=plan.results,
        ranks_per_run=plan.ranks_per_run,
        launcher=plan.launcher,
        source=path.name,
    )


def as_plan(plan: Plan | str | Path) -> Plan:
    """A plan, or the one in a file."""
    return plan if isinstance(plan, Plan) else load_plan(plan)


def _content(path: Path) -> dict[str, Any]:
    """The tables of a plan, with keys of the case as paths."""
    try:
        content = tomllib.loads(read_text(path, "a plan of runs (TOML)"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name} is not TOML: {error}") from None
    for name in ("columns", "product"):
        if isinstance(content.get(name), dict):
            content[name] = dict(_paths(content[name]))
    sample = content.get("sample")
    if isinstance(sample, dict) and isinstance(sample.get("values"), dict):
        sample["values"] = dict(_paths(sample["values"]))
    return content


def _paths(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Values by path: TOML reads the key a.b without quotes as a table in a table."""
    for key, value in table.items():
        if isinstance(value, dict) and "kind" not in value:
            yield from _paths(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def tables_of(plan: Plan) -> tuple[dict[str, Any], Path, str]:
    """The tables of the base case, the folder of its file names, and its name in messages.

    Raises:
        InputError: the file cannot be read or is not TOML.
    """
    if isinstance(plan.case, Mapping):
        return dict(plan.case), plan.folder or Path(), "the base case"
    path = Path(plan.case)
    if path.suffix.lower() not in TOML:
        raise InputError(
            f"{path} is not a TOML case, so rows cannot set its keys; `groundswell convert` may "
            "be able to write one"
        )
    return read_document(path), plan.folder or path.parent, path.name
