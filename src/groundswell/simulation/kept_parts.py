"""Parts of set-ups that later runs of the same process reuse.

A solver builds an expensive part, such as the medium on the grid, through `kept`. A single run
builds it as usual. In consecutive runs of one process, as in an ensemble, a later run reuses the
part if the sections of the case on which it depends are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Part = TypeVar("Part")

MOST = 2  # parts of each kind: enough for runs that alternate between two grids


class KeptParts:
    """The latest parts of each kind, by key.

    All ranks of a run make the same requests in the same order, so that they keep the same parts.

    Args:
        most: number of parts of each kind.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._parts: dict[str, OrderedDict[Hashable, Any]] = {}

    def get(self, kind: str, key: Hashable, make: Callable[[], Part]) -> Part:
        """The part of this kind and key; `make` builds it if it is not kept."""
        parts = self._parts.setdefault(kind, OrderedDict())
        if key not in parts:
            while len(parts) >= self._most:  # before `make`, so that their memory is free
                parts.popitem(last=False)
            parts[key] = make()
        parts.move_to_end(key)
        found: Part = parts[key]
        return found

    def forget(self) -> None:
        """Drop all parts."""
        self._parts.clear()

    @contextmanager
    def used(self) -> Iterator[None]:
        """Context in which `kept` finds parts here."""
        token = _used.set(self)
        try:
            yield
        finally:
            _used.reset(token)


_used: ContextVar[KeptParts | None] = ContextVar("kept_parts", default=None)


def kept(kind: str, key: Callable[[], Hashable], make: Callable[[], Part]) -> Part:
    """The part that an earlier run of this process has built for the same key, or a new one.

    Callers must not modify a part.

    Args:
        kind: name of the kind of part; the latest few parts of each kind are kept.
        key: returns everything on which the part depends, such as `Case.digest_with_files`; not
            called in a single run, since a digest of large arrays takes time.
        make: builds the part.
    """
    parts = _used.get()
    return make() if parts is None else parts.get(kind, key(), make)
