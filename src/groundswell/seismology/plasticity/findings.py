"""Plastic strain and yielded volume of a run, for `summary.json`, the terminal and the report."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.case.quantities import Quantity

GROUP = "Plastic strain"


def yield_findings(largest: float, volume: float) -> Iterator[Quantity]:
    """Yield the largest accumulated plastic strain and the volume that has yielded, m^3.

    Args:
        largest: of all points.
        volume: of the points whose strain is above 0.
    """
    text = f"{largest:.3g}" if largest else "0: no rock has yielded"
    yield Quantity("largest_plastic_strain", largest, "plastic strain up to", "", text, GROUP)
    text = f"{volume / 1e9:.4g} km3"
    yield Quantity("yielded_volume", volume, "volume that yielded", "m^3", text, GROUP)
