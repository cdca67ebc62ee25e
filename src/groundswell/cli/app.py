"""The commands, their options and their help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundswell import registry
from groundswell.cli import ensemble
from groundswell.cli.compare import compare
from groundswell.cli.examples import example
from groundswell.cli.export import export
from groundswell.cli.hazard import hazard
from groundswell.cli.intensity import intensity
from groundswell.cli.measuring import BENCH, VERIFY, bench, verify
from groundswell.cli.options import (
    EXAMPLE,
    SOLVERS,
    AsJson,
    Backend,
    BackendName,
    CaseFile,
    FloatingPoint,
    Resume,
    SettingTexts,
    agreement,
    backend_option,
    choice,
    flag,
    print_json,
    settings_of,
    show_version,
    solver_names,
)
from groundswell.cli.plugin_package import PLUGIN, write_package
from groundswell.cli.reproduce import HELP as REPRODUCE
from groundswell.cli.reproduce import reproduce
from groundswell.cli.synthesize import synthesize

app = typer.Typer(
    name="groundswell",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    help=f"""Solve wave and flow problems, from one core of a laptop to many GPUs, with the same
    answer everywhere.

    Start with `groundswell new {EXAMPLE}`, then `groundswell check case.toml` and
    `groundswell run case.toml`. Each command has its own help, such as `groundswell run --help`.

    Solvers: {SOLVERS}.
    """
)
def groundswell(
    debug: Annotated[
        bool, flag("--debug", text="Show the traceback of an error (any command).")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version.", metavar="", is_eager=True, callback=show_version
        ),
    ] = False,
) -> None:
    """Options that come before every command."""


@app.command(
    help=f"""Run a case and write its results, a summary and pictures to a folder.

    Ctrl-C (or SIGTERM) stops a run. A solver that steps through time writes a checkpoint first, and
    `--resume` continues from it. In the script of a batch job, which may run again, use
    `--resume=auto`. A run replaces earlier results of the same case. To replace results of another
    case, or an unfinished run, add `--overwrite`. For example

        groundswell run case.toml --output results/fine --backend cuda --set time.duration=2.0

    Several processes can share a case, each with a GPU or a few cores:

        mpiexec -n 4 groundswell run case.toml

    {agreement()}
    """
)
def run(
    case: CaseFile,
    output: Annotated[Path | None, typer.Option(help="Results folder; overrides the case.")] = None,
    resume: Annotated[
        Resume,
        typer.Option(
            "--resume",
            parser=choice(Resume),
            metavar="[=auto]",
            show_default=False,
            help="Continue from the checkpoint in that folder. With --resume=auto: continue if "
            "there is one, do nothing if the results are complete, start otherwise.",
        ),
    ] = Resume.no,
    overwrite: Annotated[
        bool,
        flag("--overwrite", text="Replace results of another case or an unfinished run."),
    ] = False,
    settings: SettingTexts = None,
    backend: Backend = None,
    precision: FloatingPoint = None,
    quiet: Annotated[bool, flag("--quiet", "-q", text="Show no progress.")] = False,
    measure: Annotated[
        bool, flag("--measure", text="Measure the memory bandwidth again; it is kept for a week.")
    ] = False,
    as_json: AsJson = False,
    no_pictures: Annotated[
        bool, flag("--no-pictures", text="Draw no pictures at the end.")
    ] = False,
) -> None:
    from groundswell.cli import results, text_tables
    from groundswell.exchange.mpi_communicator import get_communicator
    from groundswell.simulation.run import run as run_case

    result = run_case(
        case,
        folder=output,
        resume="auto" if resume == Resume.auto else resume == Resume.yes,
        overwrite=overwrite,
        quiet=quiet,
        measure=measure,
        backend=backend,
        precision=precision,
        settings=settings_of(settings),
    )
    if not get_communicator().first:
        return
    summary = result.summary if no_pictures else results.with_pictures(result.folder, quiet=quiet)
    if as_json:
        print_json({"folder": str(result.folder), **summary})
    elif quiet:
        text_tables.warn(summary["warnings"])
    else:
        results.show(result.folder, summary)


@app.command()
def check(
    case: CaseFile,
    settings: SettingTexts = None,
    backend: Backend = None,
    precision: FloatingPoint = None,
    ranks: Annotated[int, typer.Option(min=1, help="Number of processes for the run.")] = 1,
    hosts: Annotated[
        int, typer.Option(min=1, help="Number of hosts like this one that the processes use.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Show what a case needs and resolves, without running it.

    Shows the grid or mesh, memory, minimum run time and warnings. The exit code is 2 if the case
    cannot run on this machine, or on that many hosts like it. For example

        groundswell check case.toml --precision double --ranks 4
    """
    from groundswell.cli import text_tables
    from groundswell.errors import InputError
    from groundswell.simulation import preparation

    options = {"backend": backend, "precision": precision}
    found = preparation.check(case, ranks, hosts, **options, settings=settings_of(settings))
    if as_json:
        print_json(found)
    else:
        text_tables.show_check(found)
    if found["problems"]:
        raise InputError("\n".join(found["problems"]))


@app.command(
    help=f"""Write a commented example case, or the package of a new solver.

    The case explains every section and runs in seconds without changes. For example

        groundswell new {EXAMPLE} my_case.toml

    The package has a small solver of its own, to be changed into another one. For example

        groundswell new {PLUGIN} shallow_water
    """
)
def new(
    solver: Annotated[
        str,
        typer.Argument(
            metavar="SOLVER",
            help=f"The solver: {SOLVERS}; or {PLUGIN}.",
            show_default=False,
            autocompletion=solver_names(PLUGIN),
        ),
    ],
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write, or the name of the new solver.")
    ] = Path("case.toml"),
) -> None:
    from groundswell.case.annotation import annotated
    from groundswell.errors import InputError
    from groundswell.formats.atomic import atomic_write, exists

    if solver == PLUGIN:
        folder = write_package(str(path))
        typer.echo(f"wrote {folder}/; next: pip install -e ./{folder}")
        return
    info = registry.find(solver)
    text = annotated(info.read_template(), info.load("case"))
    if exists(path):
        raise InputError(f"{path} exists already; give another name, or delete it")
    with atomic_write(path) as part:
        part.write_text(text, encoding="utf-8")
    typer.echo(f"wrote {path}; next: groundswell check {path}")


@app.command()
def convert(
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="Input file of another program, such as .h5.")
    ],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Case file to write.")] = Path(
        "case.toml"
    ),
) -> None:
    """Write an input file of another program as a case.

    The case is a TOML file, with data files beside it. An input file that a case cannot express is
    an error. Such a file may still run as it is: `groundswell run INPUT`. For example

        groundswell convert kwave_input.h5 case.toml
    """
    paths = registry.converter_of(source.suffix.lower())(source, path)
    others = f", with {', '.join(other.name for other in paths[1:])}" if paths[1:] else ""
    typer.echo(f"wrote {paths[0]}{others}; next: groundswell check {paths[0]}")


@app.command()
def info(
    step: Annotated[
        Path | None,
        typer.Option(metavar="CASE", help="Show the launches of a step of this case instead."),
    ] = None,
    backend: Annotated[
        BackendName | None, backend_option("Backend for --step; overrides the case.")
    ] = None,
    settings: SettingTexts = None,
    as_json: AsJson = False,
) -> None:
    """Show versions, solvers, devices, links between GPUs, MPI, transports and the kernel cache.

    Several processes also test which transports work between them. With `--step`, show the kernels
    and other launches of one step of a case, with the arrays that each gets. For example

        groundswell info --json

        mpiexec -n 4 groundswell info

        groundswell info --step case.toml
    """
    from groundswell.cli import text_tables
    from groundswell.cli.machine import describe_machine
    from groundswell.cli.step_listing import show_step

    if step is None and settings:
        raise typer.BadParameter("is for --step", param_hint="--set")
    if step is not None:
        show_step(step, backend, settings_of(settings), as_json=as_json)
        return
    found = describe_machine()
    if found is None:
        return  # only rank 0 prints
    if as_json:
        print_json(found)
    else:
        text_tables.show_machine(found)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Results of a run.")],
) -> None:
    """Write an HTML report of a run: the case, throughput, pictures and files.

    For example

        groundswell report results
    """
    from groundswell.cli import text_tables
    from groundswell.report.html import write_report
    from groundswell.simulation.summary import add_files

    page = write_report(folder, lambda text: text_tables.warn([text]))
    add_files(folder, [page])
    typer.echo(page)


app.command(help=VERIFY)(verify)
app.command(help=BENCH)(bench)
app.command(help=REPRODUCE)(reproduce)
for command in (example, compare, export, synthesize, intensity, hazard):
    app.command()(command)
for name, function in registry.commands().items():
    app.command(name)(function)
app.add_typer(ensemble.app, name="ensemble", help=ensemble.HELP)
