"""Bands of comparisons, against the frequencies that runs resolve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.seismology.case.comparison import ComparisonOptions
from groundswell.simulation.summary import read_summary

KEY = "resolved_frequency"  # in the quantities of a run
_ROUNDING = 1.005  # messages have three digits


def unresolved(options: ComparisonOptions, parts: Sequence[Any]) -> Iterator[str]:
    """Yield a warning for each run that does not resolve the band.

    Args:
        parts: what is compared; only results folders, or files in them, are looked at.
    """
    if options.band is None:
        return
    for path in (each for each in parts if isinstance(each, Path)):
        folder = path if path.is_dir() else path.parent
        resolved = _resolved(folder)
        if resolved is not None and options.band[1] > _ROUNDING * resolved:
            yield (
                f"band up to {options.band[1]:g} Hz: {folder} resolves frequencies up to "
                f"{resolved:.3g} Hz; lower the band, or refine the grid of that run"
            )


def _resolved(folder: Path) -> float | None:
    """The highest frequency that a run resolves, Hz, if its summary states it."""
    with suppress(InputError):
        case = read_summary(folder).get("case")
        value = case.get(KEY) if isinstance(case, dict) else None
        if isinstance(value, int | float) and isfinite(value):
            return float(value)
    return None
