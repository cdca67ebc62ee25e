"""Variants of a test that the quick run leaves out."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def long_variants(parameters: Iterable[Any]) -> list[Any]:
    """Parameters of a test, each one value or a tuple of them, for `--full` alone."""
    return [
        pytest.param(*(p if isinstance(p, tuple) else (p,)), marks=pytest.mark.full)
        for p in parameters
    ]


def short_and_long(parameters: Iterable[Any], long: Container[Any]) -> list[Any]:
    """The same of all parameters, of which some are for `--full` alone."""
    return [long_variants([p])[0] if p in long else p for p in parameters]
