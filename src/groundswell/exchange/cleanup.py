"""Closing of resources that ranks have opened together, after an error that all ranks know."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Protocol

from groundswell.errors import begin_together, known_to_all


class Closable(Protocol):
    """A resource that all ranks open and close together; closing it twice does nothing."""

    def close(self) -> None:
        """Release what it holds of other ranks."""


_opened: ContextVar[list[Closable] | None] = ContextVar("opened", default=None)


def opened(part: Closable) -> None:
    """Register an open resource, which an enclosing `all_or_nothing` closes after an error."""
    if (parts := _opened.get()) is not None:
        parts.append(part)


class all_or_nothing:  # noqa: N801, it reads as `suppress` does
    """Context that closes what was opened in it, the last first, after an error on all ranks.

    After an error that other ranks do not know yet, they would not close theirs. The enclosing
    context then closes the resources, once all ranks know the error.
    """

    # Not a generator, which would set attributes of errors; some classes forbid that.
    def __enter__(self) -> None:
        self._around, self._parts = _opened.get(), list[Closable]()
        self._before = _opened.set(self._parts), begin_together()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if isinstance(error, Exception) and known_to_all(error):
                _close(self._parts)
                self._parts = []
        finally:
            for token in self._before:
                token.var.reset(token)  # type: ignore[arg-type]
            if self._around is not None:
                self._around.extend(self._parts)


def _close(parts: Sequence[Closable]) -> None:
    """Close all in reverse; stop at the first that fails, since a rank or the device is lost."""
    with suppress(Exception):  # the original error matters more
        for part in reversed(parts):
            part.close()
