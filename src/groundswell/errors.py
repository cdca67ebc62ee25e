"""Everything Groundswell raises on purpose, and the exit code each one ends a command with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from itertools import count
from typing import TypeVar


class GroundswellError(Exception):
    """A failure with a message meant for the user; the command ends with `exit_code`."""

    exit_code = 1


class InputError(GroundswellError):
    """A request that cannot be honoured: its message has the value, what is allowed, the cure."""

    exit_code = 2


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a case: where it stands, the value found, and what is allowed there."""

    key: str
    value: str
    allowed: str

    def __str__(self) -> str:
        found = f" = {self.value}" if self.value else ""
        return f"{self.key}{found}: {self.allowed}"


class CaseError(InputError):
    """A case file that does not describe a valid run; lists every problem found."""

    def __init__(self, problems: Sequence[Problem], source: str = "case") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__("\n".join([f"{source} cannot be used:", *(f"  {p}" for p in problems)]))

    def __reduce__(self) -> tuple[type[CaseError], tuple[tuple[Problem, ...], str]]:
        return type(self), (self.problems, self.source)  # ranks tell each other of errors


class BackendError(InputError):
    """The device or compiler that was asked for is missing or cannot do what was asked."""


class RunFailed(GroundswellError):
    """A run that started and could not finish (unstable field, full disk, lost device)."""


class Interrupted(GroundswellError):
    """A run stopped by the user or the batch system; its checkpoint is on disk."""

    exit_code = 130


# --- the wording of messages ----------------------------------------------------------------------


def listed(words: Iterable[str]) -> str:
    """Words as a list in a sentence: `a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of a sentence that offers the known word closest to `word`, or nothing."""
    import difflib

    if not isinstance(word, str) or len(word) > 40:
        return ""
    close = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def quoted(text: str) -> str:
    """Text in quotes, on one line of at most 60 characters."""
    cut = text if len(text) <= 60 else text[:57] + "..."
    return f'"{repr(cut)[1:-1]}"'  # repr escapes whatever a terminal cannot or should not print


# --- who knows of an error ------------------------------------------------------------------------

# One object may be raised again and again, such as a module's own or a cached failure: that it was
# told once does not mean that anybody knows of it now. So what is told has a moment, and what ranks
# do together has one too, when it began.
Error = TypeVar("Error", bound=BaseException)

_moments = count(1)
_begun: ContextVar[int] = ContextVar("begun", default=0)  # what is under way, the innermost


def begin_together() -> Token[int]:
    """Ranks begin something together, in which all errors are news; returns what ends it."""
    return _begun.set(next(_moments))


def now_known(error: Error) -> Error:
    """An error of whatever kind, once every rank of the job knows of it."""
    vars(error)["_known_since"] = next(_moments)  # past classes that let nobody set attributes
    return error


def known_to_all(error: BaseException) -> bool:
    """Whether every rank of the job knows of an error, and none waits for another."""
    return bool(vars(error).get("_known_since", 0) > _begun.get())
