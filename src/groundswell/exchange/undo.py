"""What ranks open together is closed again where they cannot finish what they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Protocol

from groundswell.errors import begin_together, known_to_all


class Closable(Protocol):
    """Something that all ranks open together, and close together; the second time does nothing."""

    def close(self) -> None:
        """Give back what it holds of other ranks."""


_opened: ContextVar[list[Closable] | None] = ContextVar("opened", default=None)


def opened(part: Closable) -> None:
    """Say that a part is open, which an `all_or_nothing` around may have to close."""
    if (parts := _opened.get()) is not None:
        parts.append(part)


class all_or_nothing:  # noqa: N801, it reads as `suppress` does
    """Close what is opened in here, the last part first, if an error ends it that all ranks know.

    Ranks that know of no error would not take part, so it is left to what is around to close parts
    once they do.
    """

    # No generator: those set attributes of errors that pass through, which some classes forbid.
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
    """Close all, but not what follows one that cannot be: a rank is lost, or the device."""
    with suppress(Exception):  # the first error is the one to tell
        for part in reversed(parts):
            part.close()
