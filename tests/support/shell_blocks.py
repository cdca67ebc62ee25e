"""Commands of shell blocks, parsed by the programs that they call without running them."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from page_blocks import ROOT, Block

from groundswell import registry
from groundswell.case.reference import tables
from groundswell.case.settings import parse_settings
from groundswell.cli import APART, OPTIONAL
from groundswell.cli.app import app
from groundswell.cli.plugin_package import PLUGIN
from groundswell.solvers.ultrasound.kwave.arguments import parse as parse_kwave

OPERATORS = {"&&", "||", ";", "|", "&"}
CLUSTERS = ROOT / "examples" / "clusters"
OF_EXAMPLES = "acoustics"  # the solver of examples/plugin_solver
Words = Sequence[str]


class WrongCommand(Exception):
    """A command of a block that does not work as it stands."""


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a script."""
    joined = re.sub(r"\\\n", " ", re.sub(r"(&&|\|)[ \t]*\n", r"\1 ", text))
    for line in joined.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        for word in [*lexer, ";"]:
            if word not in OPERATORS:
                command.append(word)
            elif command:
                yield command
                command = []


class Session:
    """The shell blocks of a page, which a reader types one after the other.

    Args:
        folder: the current folder.
    """

    def __init__(self) -> None:
        self.folder = ROOT
        self._written: set[str] = set()

    def check(self, block: Block) -> None:
        """Parse all commands of a block.

        Raises:
            WrongCommand: one has an unknown name or option, or names a file that does not exist.
        """
        for words in commands(block.text):
            try:
                self.check_command(words)
            except WrongCommand as error:
                raise WrongCommand(f"{block.place}: {shlex.join(words)}: {error}") from None

    def check_command(self, words: Words) -> None:
        """Parse one command."""
        name, *arguments = self._without_redirection(words)
        program = name.rpartition("/")[2]
        if program not in PROGRAMS:
            raise WrongCommand("nothing parses it; mark the block `<!-- not run: reason -->`")
        self._require_files([name, *arguments])
        PROGRAMS[program](self, arguments)

    def _without_redirection(self, words: Words) -> Words:
        if ">" not in words:
            return words
        end = words.index(">")
        self._written.add(words[end + 1])
        return words[:end]

    def _require_files(self, words: Words) -> None:
        """Require the files of the repository: scripts, and those in its folders."""
        for word in words:
            if self._must_exist(word) and not any((f / word).exists() for f in self._folders):
                raise WrongCommand(f"{word} does not exist")

    def _must_exist(self, word: str) -> bool:
        if word in self._written or "results" in word or word.startswith("my_"):
            return False
        is_script = word.startswith("./") or word.endswith((".py", ".sh", ".sbatch"))
        is_named = word.startswith(("examples/", "benchmarks/", "docs/", "scripts/"))
        return is_script or is_named or (self.folder != ROOT and word.endswith(".toml"))

    @property
    def _folders(self) -> tuple[Path, ...]:
        """Where files of the repository may lie: scripts of clusters are copied from there."""
        return self.folder, CLUSTERS


# --- programs -------------------------------------------------------------------------------------


def _groundswell(session: Session, arguments: Words) -> None:
    omitted = {} if arguments[0] in APART else OPTIONAL
    try:
        _parser().main([omitted.get(word, word) for word in arguments], standalone_mode=False)
    except Exception as error:
        raise WrongCommand(str(error)) from None
    if arguments[0] in ("new", "verify", "bench"):
        _require_solvers(arguments[1:2])
    for option, value in pairwise(arguments):
        if option == "--set":
            _require_keys(value)


@cache
def _parser() -> Any:
    """The commands, which parse their arguments and do nothing."""
    command = typer.main.get_command(app)
    _disarm(command)
    return command


def _disarm(command: Any) -> None:
    command.callback = None
    for each in getattr(command, "commands", {}).values():
        _disarm(each)


def _require_solvers(names: Words) -> None:
    for name in names:
        if name not in (*registry.names(), PLUGIN, OF_EXAMPLES, "exchange") and name[0] != "-":
            raise WrongCommand(f"there is no solver {name}")


def _require_keys(setting: str) -> None:
    for path in parse_settings([setting]):
        if ".".join(part for part in path.split(".") if not part.isdecimal()) not in _keys():
            raise WrongCommand(f"no solver has the key {path}")


@cache
def _keys() -> set[str]:
    """Paths of the keys of all solvers."""
    cases = [registry.find(name).load("case") for name in registry.names()]
    found = (table for case in cases for table in tables(case))
    return {
        f"{path}.{key.name}".lstrip(".")
        for table in found
        for path in (table.path, *table.also)
        for key in table.keys
    }


def _kwave(program: str) -> Callable[[Session, Words], None]:
    def check_arguments(session: Session, arguments: Words) -> None:
        try:
            parse_kwave(program, "", arguments)
        except SystemExit:
            raise WrongCommand("wrong arguments") from None

    return check_arguments


def _mpiexec(session: Session, arguments: Words) -> None:
    """What it starts, after `-n N`."""
    session.check_command(arguments[2:])


def _sbatch(session: Session, arguments: Words) -> None:
    """The command that a script runs, if there is one: what follows options and the script."""
    script = next(n for n, word in enumerate(arguments) if not word.startswith("-"))
    if arguments[script + 1 :]:
        session.check_command(arguments[script + 1 :])


def _cd(session: Session, arguments: Words) -> None:
    session.folder = session.folder / arguments[0]


def _pip(session: Session, arguments: Words) -> None:
    for extras in re.findall(r"^\.\[(.*)\]$", "\n".join(arguments), re.MULTILINE):
        for name in set(extras.split(",")) - extras_of_the_package():
            raise WrongCommand(f"the package has no extra {name}")


@cache
def extras_of_the_package() -> frozenset[str]:
    """The names in `[project.optional-dependencies]`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return frozenset(project["optional-dependencies"])


def _files_only(session: Session, arguments: Words) -> None:
    """Nothing more than that the files exist."""


FILES_ONLY = ("python", "python3", "bash", "test", "docs", ".", "diff", "apptainer")
PROGRAMS: dict[str, Callable[[Session, Words], None]] = {
    "groundswell": _groundswell,
    "kspaceFirstOrder-OMP": _kwave("kspaceFirstOrder-OMP"),
    "kspaceFirstOrder-CUDA": _kwave("kspaceFirstOrder-CUDA"),
    "mpiexec": _mpiexec,
    "sbatch": _sbatch,
    "cd": _cd,
    "pip": _pip,
    **dict.fromkeys(FILES_ONLY, _files_only),
}
