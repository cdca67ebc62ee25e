"""What ranks open together is closed again where they cannot finish what they make of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Protocol

from groundswell.errors import GroundswellError


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

    Otherwise nothing is closed: ranks that know of no error would not take part.
    """
    around, parts = _opened.get(), list[Closable]()
    token = _opened.set(parts)
    try:
        yield
    except Exception as error:
        if getattr(error, "everywhere", False):
            for part in reversed(parts):
                with suppress(GroundswellError):  # the first error is the one to tell
                    part.close()
        raise
    finally:
        _opened.reset(token)
    if around is not None:
        around.extend(parts)
