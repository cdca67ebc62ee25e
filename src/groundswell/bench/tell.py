"""What a benchmark says of how far it is."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str], None]  # called with what is measured next


def silent(what: str) -> None:
    """Tell nobody."""
