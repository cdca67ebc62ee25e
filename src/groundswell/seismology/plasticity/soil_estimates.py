"""How soft soil yields, for `check`, `summary.json` and the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from groundswell.case.quantities import Quantity, byte_size
from groundswell.errors import counted, metres_or_km

SOFTENED = 0.5  # G / Gmax at the reference strain
COARSE = 0.03  # difference of a backbone from its curve above which there is a warning


@dataclass(frozen=True)
class SoilEstimates:
    """Extremes of soft soil.

    Args:
        cells: number of cells that may yield.
        linear: cells of the same rows that may not.
        depth: of the lowest of these rows, m.
        reference_strain: least and greatest.
        yield_strain: strains at which the first element of a cell yields, and the last one.
        surfaces: elements in each cell.
        error: largest relative difference of a backbone from its curve.
        frequency: at which the slowest S wave is resolved, Hz.
    """

    cells: int
    linear: int
    depth: float
    reference_strain: tuple[float, float]
    yield_strain: tuple[float, float]
    surfaces: int
    error: float
    frequency: float

    @property
    def softened_frequency(self) -> float:
        """The same where G / Gmax is SOFTENED."""
        return self.frequency * sqrt(SOFTENED)


def soil_quantities(estimates: SoilEstimates, memory: int, group: str) -> Iterator[Quantity]:
    """Yield the cells that may yield, their strains, and what the grid resolves when they do.

    Args:
        memory: of the elements on one rank, bytes.
        group: heading of the quantities.
    """
    yield Quantity("plasticity_model", "iwan", "soft soil yields", group=group)
    text = f"{counted(estimates.cells, 'cell')} down to {metres_or_km(estimates.depth)}"
    if estimates.linear:
        text += f"; {counted(estimates.linear, 'cell')} at these depths remain linear"
    yield Quantity("soil_cells", estimates.cells, "soil", "cells", text, group)
    if not estimates.cells:
        return
    low, high = estimates.reference_strain
    text = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    yield Quantity("reference_strain", [low, high], "reference strain", "", text, group)
    low, high = estimates.yield_strain
    percent = 100 * estimates.error
    text = f"from strains of {low:.2g} to {high:.2g}, within {percent:.3g} % of its curve"
    yield Quantity("soil_strain", [low, high], "backbone", "", text, group)
    yield Quantity("soil_backbone_error", estimates.error, group=group)
    text = f"{estimates.surfaces} in each cell, {byte_size(memory)}"
    yield Quantity("soil_surfaces", estimates.surfaces, "yield surfaces", "", text, group)
    yield Quantity("soil_memory", memory, unit="bytes", group=group)
    frequency = estimates.softened_frequency
    text = f"up to {frequency:.3g} Hz in the slowest soil at its reference strain"
    yield Quantity("soil_frequency", frequency, "frequencies", "Hz", text, group)


def soil_warnings(estimates: SoilEstimates, emitted: float) -> Iterator[str]:
    """Soil without cells that yield, a coarse backbone, and waves too short in softened soil.

    Args:
        emitted: frequency below which the sources have nearly all their energy, Hz.
    """
    if not estimates.cells:
        yield "no cell above plasticity.depth has S waves slower than plasticity.vs_limit; raise it"
        return
    if estimates.error > COARSE:
        yield (
            f"the backbone of the soil deviates from its curve by {100 * estimates.error:.3g} %; "
            "raise plasticity.surfaces. If this does not help, correct the table of the curve: its "
            "stress, strain times modulus, must not fall with strain, nor rise faster"
        )
    resolved = estimates.softened_frequency
    if resolved < emitted <= estimates.frequency:
        yield (
            f"the sources have energy up to {emitted:.3g} Hz, but the grid resolves "
            f"{resolved:.3g} Hz in soil at its reference strain, where waves are slower; low-pass "
            "the results there, or use smaller cells"
        )
