"""Exceptions that Groundswell raises on purpose, and the exit codes of commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TypeVar


class GroundswellError(Exception):
    """A failure with a message meant for the user; commands end with the exit code 1.

    >>> import groundswell as gs
    >>> try:
    ...     gs.run("missing.toml")
    ... except gs.errors.GroundswellError as error:
    ...     print(error.exit_code)
    2
    """

    exit_code = 1


class InputError(GroundswellError):
    """Invalid input; the message states the value, what is allowed and how to fix it.

    Commands end with the exit code 2.
    """

    exit_code = 2


@dataclass(frozen=True)
class CaseProblem:
    """One problem of a case: its key, the value found, and what is allowed there."""

    key: str
    value: str
    allowed: str

    def __str__(self) -> str:
        found = f" = {self.value}" if self.value else ""
        return f"{self.key}{found}: {self.allowed}"


class CaseError(InputError):
    """An invalid case; the message lists every problem found.

    >>> import groundswell as gs
    >>> try:
    ...     gs.load_case("case.toml", {"fluid.prandtl": -1.0, "run.backend": "tpu"})
    ... except gs.errors.CaseError as error:
    ...     print([problem.key for problem in error.problems])
    ['run.backend', 'fluid.prandtl']
    """

    def __init__(self, problems: Sequence[CaseProblem], source: str = "case") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__("\n".join([f"{source} cannot be used:", *(f"  {p}" for p in problems)]))

    def __reduce__(self) -> tuple[type[CaseError], tuple[tuple[CaseProblem, ...], str]]:
        return type(self), (self.problems, self.source)  # ranks send each other errors, pickled


class BackendError(InputError):
    """The requested device or compiler is missing or does not support the request."""


class DeviceMissing(BackendError):
    """The CUDA backend has no device.

    Args:
        reason: what is missing.
        otherwise: what the user can do without a device.
    """

    def __init__(self, reason: str, otherwise: str = 'choose backend = "cpu"') -> None:
        super().__init__(reason, otherwise)
        self.reason, self.otherwise = reason, otherwise

    def __str__(self) -> str:
        return (
            f"the CUDA backend does not work here: {self.reason}; install a driver, and "
            f"{install('cuda13')} (or cuda12), or {self.otherwise}"
        )


class RunFailed(GroundswellError):
    """A run started but could not finish (unstable field, full disk, lost device)."""


class Unstable(RunFailed):
    """Values grow without bound; resuming the run would fail again."""


class NotFinite(Unstable):
    """A value became infinite or NaN."""


class DiskFull(RunFailed):
    """The disk has no room for a file, or the user's quota is exceeded.

    Args:
        found: the file and the free space.
        remedy: what the user can do.
    """

    def __init__(
        self, found: str, remedy: str = "make room or choose a folder on a larger disk"
    ) -> None:
        super().__init__(found, remedy)

    def __str__(self) -> str:
        return "; ".join(self.args)


class NoSpace(InputError):
    """The results of a run would not fit on the disk."""


class Interrupted(GroundswellError):
    """The user or the batch system stopped a run; the message names the checkpoint, if any.

    Commands end with the exit code 130.
    """

    exit_code = 130


# --- the wording of messages ----------------------------------------------------------------------


def listed(words: Iterable[str]) -> str:
    """Words as a list in a sentence: `a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number of things: `1 axis`, `1,000 cells`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def rounded(value: float, noun: str, digits: int = 3) -> str:
    """A number of things that need not be whole: `1 spacing`, `2.48 spacings`."""
    text = f"{value:.{digits}g}"
    return f"{text} {noun if text == '1' else noun + 's'}"


def metres_or_km(metres: float) -> str:
    """A length in the usual unit of its size: `512.3 m`, `11.7 km`."""
    return f"{metres:.4g} m" if abs(metres) < 9999.5 else f"{metres / 1e3:.3g} km"


_PROJECT = Path(__file__).parents[2] / "pyproject.toml"  # only in a clone
_SYNONYMS = {"gpu": "cuda"}  # "gpu" is spelled like "cpu"


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """A suffix for a message that suggests the known word closest to `word`, or ""."""
    import difflib

    if not isinstance(word, str) or len(word) > 40:
        return ""
    word = _SYNONYMS.get(word.lower(), word.lower())
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word, list(names), n=1)
    return f' (did you mean "{names[close[0]]}"?)' if close else ""


def install(extra: str) -> str:
    """How to install the libraries of an extra, as an instruction in a message."""
    if _PROJECT.is_file():
        return f"in your clone of Groundswell, run pip install -e '.[{extra}]'"
    return f"run pip install 'groundswell[{extra}]'"


def in_words(kind: type) -> str:
    """What a message calls a class: "sampled signal"."""
    return re.sub(r"(?<!^)([A-Z])", r" \1", kind.__name__).lower()


def quoted(text: str) -> str:
    """Text in quotes, on one line of at most 60 characters."""
    cut = text if len(text) <= 60 else text[:57] + "..."
    return f'"{repr(cut)[1:-1]}"'  # repr escapes control characters


def reason_of(error: BaseException) -> str:
    """The text of an exception, such as another library's, on one line of printable characters."""
    texts = [part for part in error.args if isinstance(part, str)]
    words = (texts[-1] if texts else type(error).__name__).split()
    line = "".join(c if c.isprintable() else "?" for c in " ".join(words))
    return line if len(line) <= 160 else f"{line[:157]}..."


# --- errors known to all ranks --------------------------------------------------------------------

# The same exception object may be raised more than once, for example a cached failure. That all
# ranks knew of it earlier does not mean that they know of it now. A counter therefore orders the
# broadcasts of errors and the starts of collective operations.
Error = TypeVar("Error", bound=BaseException)

_moments = count(1)
_begun: ContextVar[int] = ContextVar("begun", default=0)  # start of the innermost operation


def begin_together() -> Token[int]:
    """Start a collective operation, in which no error is known yet; returns the token to end it."""
    return _begun.set(next(_moments))


def now_known(error: Error) -> Error:
    """Mark an error as known to every rank of the job, and return it."""
    vars(error)["_known_since"] = next(_moments)  # works for classes that override __setattr__
    return error


def known_to_all(error: BaseException) -> bool:
    """Whether every rank of the job knows of an error, so that none waits for another."""
    return bool(vars(error).get("_known_since", 0) > _begun.get())
