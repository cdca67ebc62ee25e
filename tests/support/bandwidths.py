"""Measurements of the bandwidth that would be wrong for users: none of them is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from groundswell.simulation.bandwidths import KeptBandwidth


@contextmanager
def bandwidths_not_kept() -> Iterator[None]:
    """Measure in each run, as if the cache could not be read or written."""
    with patch.multiple(KeptBandwidth, read=_nothing, add=_only_this):
        yield


def keep_no_bandwidths() -> None:
    """The same until the end of the process."""
    KeptBandwidth.read = _nothing  # type: ignore[method-assign]
    KeptBandwidth.add = _only_this  # type: ignore[method-assign,assignment]


def _nothing(_: KeptBandwidth) -> None:
    return None


def _only_this(_: KeptBandwidth, rate: float, **__: Any) -> float:
    return rate
