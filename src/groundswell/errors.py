"""Everything Groundswell raises on purpose, and the exit code each one ends a command with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GroundswellError(Exception):
    """A failure with a message meant for the user; the command ends with `exit_code`.

    Attributes:
        everywhere: whether every rank of the job knows of it, and none waits for another.
    """

    exit_code = 1
    everywhere = False


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


def known_to_all(error: BaseException) -> bool:
    """Whether every rank of the job knows of an error, of whatever kind it is."""
    return bool(getattr(error, "everywhere", False))
