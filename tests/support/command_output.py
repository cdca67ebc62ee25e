"""What commands print, made easy to compare."""

from __future__ import annotations


def flat(text: str) -> str:
    """Text without the line breaks and padding of a table."""
    return " ".join(text.split())
