"""What commands print, in a form that is easy to compare."""

from __future__ import annotations


def unwrapped(text: str) -> str:
    """Text without the line breaks and padding of a table."""
    return " ".join(text.split())
