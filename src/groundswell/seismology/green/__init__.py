"""Strain Green tensors: the strain due to a force at a station, and seismograms from it.

By reciprocity, the displacement at a station along an axis due to a moment at a point is the
contraction of the moment with the strain that a force at the station along this axis causes there
(Aki & Richards 2002, section 3.3; Zhao, Chen & Jordan 2006, Bull. Seism. Soc. Am. 96, 1753). Three
runs with forces along three axes thus yield the seismograms of any earthquake at these points.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundswell.seismology.green.command import Rupture, synthesize, synthesize_variations
    from groundswell.seismology.green.tensor import read_tensors

_EXPORTS = {
    "Rupture": "command",
    "read_tensors": "tensor",
    "synthesize": "command",
    "synthesize_variations": "command",
}

__all__ = ["Rupture", "read_tensors", "synthesize", "synthesize_variations"]


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_EXPORTS[name]}"), name)
