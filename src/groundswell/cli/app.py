"""The commands, their options and their help."""

from __future__ import annotations

import json
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="groundswell",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


class BackendName(StrEnum):
    """Where a case runs."""

    cpu = "cpu"
    cuda = "cuda"


class Precision(StrEnum):
    """The floating-point type of a run."""

    single = "single"
    double = "double"


# typer reads these annotations when the program runs.
CaseFile = Annotated[Path, typer.Argument(metavar="CASE", help="Case file (TOML).")]
SolverName = Annotated[str, typer.Argument(metavar="SOLVER", help="Such as earthquake.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Backend = Annotated[
    BackendName | None, typer.Option(help="Where to run, instead of what the case says.")
]
Width = Annotated[
    Precision | None, typer.Option(help="Floating-point type, instead of the case's.")
]


@app.callback()
def groundswell(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from (any command).")
    ] = False,
) -> None:
    """Simulate waves on a laptop or a GPU.

    Start with `groundswell new earthquake`, then `groundswell check case.toml` and
    `groundswell run case.toml`. Each command explains itself: `groundswell run --help`.
    """


@app.command()
def run(
    case: CaseFile,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the results, instead of the case's.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint in that folder.")
    ] = False,
    backend: Backend = None,
    precision: Width = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: AsJson = False,
    no_pictures: Annotated[
        bool, typer.Option("--no-pictures", help="Draw no pictures at the end.")
    ] = False,
) -> None:
    """Run a case and leave seismograms, maps and pictures in a folder.

    Ctrl-C (or SIGTERM) stops it after writing a checkpoint, and `--resume` goes on from there, to
    the same bits. For example

        groundswell run case.toml --output results/fine --backend cuda

    Several processes share a case, one a GPU or a few cores each, with the same results:

        mpiexec -n 4 groundswell run case.toml
    """
    from groundswell.cli import results, tables
    from groundswell.exchange.world import world
    from groundswell.simulation.run import run as run_case

    job = world()
    loaded = job.agree(lambda: _loaded(case, backend, precision))
    result = run_case(loaded, folder=output, resume=resume, quiet=quiet)
    if not job.first:
        return
    summary = result.summary if no_pictures else results.with_pictures(result.folder)
    if as_json:
        _print_json({"folder": str(result.folder), **summary})
    elif quiet:
        tables.warn(summary["warnings"])
    else:
        results.show(result.folder, summary)


@app.command()
def check(
    case: CaseFile,
    backend: Backend = None,
    precision: Width = None,
    ranks: Annotated[int, typer.Option(min=1, help="Processes that would share the run.")] = 1,
    hosts: Annotated[
        int, typer.Option(min=1, help="Hosts like this one that they would be spread over.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """See what a case needs and resolves, without running it.

    Shows memory, time step, points per wavelength, cost and warnings; ends with 2 if the case
    cannot run on this machine, or on so many like it. For example

        groundswell check case.toml --precision double --ranks 4
    """
    from groundswell.cli import tables
    from groundswell.errors import InputError
    from groundswell.simulation import preparation

    found = preparation.check(_loaded(case, backend, precision), ranks, hosts)
    if as_json:
        _print_json(found)
    else:
        tables.show_check(found)
    if found["problems"]:
        raise InputError("\n".join(found["problems"]))


@app.command()
def new(
    solver: SolverName,
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("case.toml"),
) -> None:
    """Write a commented case to start from.

    It runs as it is, in seconds, and explains every section. For example

        groundswell new earthquake quake.toml
    """
    from groundswell import registry
    from groundswell.errors import InputError
    from groundswell.formats.atomic import atomic_write

    text = registry.find(solver).read_template()
    if path.exists():
        raise InputError(f"{path} is there already; give another name, or delete it")
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {path}; now: groundswell check {path}")


@app.command()
def verify(
    solver: Annotated[
        str | None, typer.Argument(metavar="[SOLVER]", help="Such as earthquake; all if left out.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Finer and larger problems, for a GPU.")
    ] = False,
    backend: Annotated[BackendName, typer.Option(help="Where to run them.")] = BackendName.cpu,
    as_json: AsJson = False,
) -> None:
    """Solve problems with known answers, and compare.

    Analytic solutions and published references, as a table; ends with 1 if one misses its
    tolerance. For example

        groundswell verify earthquake --full --backend cuda
    """
    from groundswell.cli import tables
    from groundswell.verify import run_checks

    checks = run_checks(solver, full=full, backend=backend.value, progress=_tell)
    if as_json:
        _print_json([{**vars(c), "value": c.value if isfinite(c.value) else None} for c in checks])
    else:
        tables.show_verification(checks)
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


@app.command()
def bench(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="A solver, such as earthquake, or exchange.")
    ],
    backend: Annotated[
        BackendName | None, typer.Option(help="Where; by default the GPU if there is one.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for measurements and pictures.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a solver, or the exchange between ranks, on this machine, beside published figures.

    For example

        groundswell bench earthquake --output measured

        mpiexec -n 2 groundswell bench cavity

        mpiexec -n 2 groundswell bench exchange --output measured
    """
    from groundswell.bench import benchmark, run_bench
    from groundswell.exchange.world import world

    machine = backend.value if backend else None
    measured = run_bench(subject, backend=machine, output=output, tell=_tell)
    if not world().first:
        return
    if as_json:
        _print_json(measured)
    else:
        benchmark(subject).show(measured)


@app.command()
def info(as_json: AsJson = False) -> None:
    """Show versions, devices, links between GPUs, MPI, transports and the kernel cache.

    Several processes also try which ways there are between them. For example

        groundswell info --json

        mpiexec -n 4 groundswell info
    """
    from groundswell.cli import tables
    from groundswell.cli.machine import describe_machine

    found = describe_machine()
    if found is None:
        return  # rank 0 speaks for all
    if as_json:
        _print_json(found)
    else:
        tables.show_machine(found)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Results of a run.")],
) -> None:
    """Make one HTML page of a run: what ran, how fast, its pictures and files.

    For example

        groundswell report results
    """
    from groundswell.report.html import write_report
    from groundswell.simulation.summary import add_files

    page = write_report(folder)
    add_files(folder, [page])
    typer.echo(page)


def _loaded(path: Path, backend: BackendName | None, precision: Precision | None) -> Any:
    """The case of a file, with what the command line says of its [run]."""
    from groundswell.case import load_case

    case = load_case(path)
    options = {"backend": backend, "precision": precision}
    chosen = {name: value.value for name, value in options.items() if value is not None}
    if not chosen:
        return case
    section = type(case.run).model_validate({**case.run.model_dump(exclude_none=True), **chosen})
    return case.model_copy(update={"run": section})


def _print_json(content: Any) -> None:
    typer.echo(json.dumps(content, indent=2))


def _tell(text: str) -> None:
    typer.echo(text, err=True)
