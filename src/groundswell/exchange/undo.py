"""What ranks open together is closed again where they cannot finish what they make of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Protocol

from groundswell.errors import known_to_all


class Closable(Protocol):
    """Something that all ranks open together, and close together; the second time does nothing."""

    def close(self) -> None:
        """Give back what it holds of other ranks."""


_opened: ContextVar[list[Closable] | None] = ContextVar("opened", default=None)


def opened(part: Closable) -> None:
    """Say that a part is open, which an `all_or_nothing` around may have to close."""
    if (parts := _opened.get()) is not None:
        parts.append(part)


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Close what is opened in here, the last part first, if an error ends it that all ranks know.

    Ranks that know of no error would not take part, so it is left to what is around to close parts
    once they do.
    """
    around, parts = _opened.get(), list[Closable]()
    token = _opened.set(parts)
    try:
        yield
    except Exception as error:
        if known_to_all(error):
            _close(parts)
            parts = []
        raise
    finally:
        _opened.reset(token)
        if around is not None:
            around.extend(parts)


def _close(parts: Sequence[Closable]) -> None:
    """Close all, but not what follows one that cannot be: a rank is lost, or the device."""
    with suppress(Exception):  # the first error is the one to tell
        for part in reversed(parts):
            part.close()
