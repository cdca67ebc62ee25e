"""Options that several commands share, and the parsers of their values."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from groundswell import registry
from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.version import __version__


class BackendName(StrEnum):
    """Where a case runs."""

    cpu = "cpu"
    cuda = "cuda"


class Precision(StrEnum):
    """The floating-point type of a run."""

    single = "single"
    double = "double"


class Components(StrEnum):
    """Directions of components."""

    zne = "ZNE"
    zrt = "ZRT"


class SeismogramFormat(StrEnum):
    """A format of seismograms other than HDF5."""

    mseed = "mseed"
    sac = "sac"
    text = "text"
    segy = "segy"


class Resume(StrEnum):
    """Whether to continue an earlier run; without a value, the option means `yes`."""

    no = "no"
    yes = "yes"
    auto = "auto"


def choice(kind: type[StrEnum]) -> Callable[[str], StrEnum]:
    """A parser of one of several words."""

    def parse(word: str) -> StrEnum:
        if word not in list(kind):
            raise typer.BadParameter(
                f"{quoted(word)}: must be {listed(kind)}{did_you_mean(word, kind)}"
            )
        return kind(word)

    return parse


def choice_option(kind: type[StrEnum], text: str, *names: str) -> object:
    """An option whose value is one of several words, with a help text."""
    return typer.Option(*names, parser=choice(kind), metavar=f"<{'|'.join(kind)}>", help=text)


def backend_option(text: str) -> object:
    """The option `--backend` with a help text."""
    return choice_option(BackendName, text)


def flag(*names: str, text: str) -> object:
    """An option without a value."""
    return typer.Option(*names, help=text, metavar="")


def show_version(asked: bool) -> None:
    """Print the version and exit, if requested."""
    if asked:
        typer.echo(f"groundswell {__version__}")
        raise typer.Exit


def solver_names(*others: str) -> Callable[[str], list[str]]:
    """Names of solvers, and other words, that complete what has been typed so far."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in (*registry.names(), *others) if word.startswith(incomplete)]

    return complete


def agreement() -> str:
    """How far results on different numbers of processes agree, in words for a help text."""
    solvers: dict[str, list[str]] = {}
    for name in sorted(registry.names()):
        with suppress(InputError):  # a package that cannot be imported
            solvers.setdefault(registry.find(name).agreement, []).append(f"`{name}`")
    *head, last = solvers.pop("", ["other solvers"])
    others = (f"those of {' and '.join(names)} agree {how}" for how, names in solvers.items())
    return (
        "On any number of processes, and after a stop and a resume, results of "
        f"{', '.join(head)} and {last} are bit-identical, unless messages are rounded (`narrow`, "
        f"`lossy` or a ZFP `codec` in `[run]`); {', and '.join(others)}."
    )


# typer reads these annotations when the program runs.
CaseFile = Annotated[Path, typer.Argument(metavar="CASE", help="Case file (TOML).")]
SOLVERS = listed(registry.names() or ["none is installed"])
EXAMPLE = next(iter(registry.names()), "SOLVER")  # in help texts
AsJson = Annotated[bool, flag("--json", text="Print the result as JSON.")]
Backend = Annotated[BackendName | None, backend_option("Backend; overrides the case.")]
FloatingPoint = Annotated[
    Precision | None, choice_option(Precision, "Floating-point type; overrides the case.")
]
SettingTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help='Replace a value of the input file, as in --set source.0.x="2 km"; may be repeated.',
    ),
]


def settings_of(texts: list[str] | None) -> dict[str, object]:
    """The settings of the option `--set`."""
    from groundswell.case.settings import parse_settings  # pydantic takes long to import

    return parse_settings(texts or [])


def print_json(content: object) -> None:
    """Print the result of a command for a program."""
    typer.echo(json.dumps(content, indent=2))
