"""What a run costs: memory, traffic and the size of its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.pattern import traffic
from groundswell.grids.cartesian import Part, format_extent
from groundswell.simulation.exchanging import part_of
from groundswell.simulation.material_classes import MOST, ClassSavings, class_bytes
from groundswell.simulation.solver import Cost, DecompositionSummary
from groundswell.solvers.ultrasound.line_transforms import supports
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.overlap_choice import Overlaps, short
from groundswell.solvers.ultrasound.property_bytes import PropertyBytes
from groundswell.solvers.ultrasound.wave_setup import WaveSetup


def estimate(setup: WaveSetup) -> Cost:
    """The cost on one rank; an update is a step of a point."""
    memory = _memory(setup, setup.whole, (1, 1, 1), supports(setup.grid.shape))
    fields = setup.itemsize * passes(setup.materials, setup.axes)
    traffic = float(fields + property_bytes(setup).read)
    return Cost(setup.grid.count, traffic, memory, setup.output_bytes)


def savings(setup: WaveSetup) -> ClassSavings | None:
    """What classes of materials save on one rank: memory; None if there are too many materials."""
    count = setup.material_count
    if count is None:
        return None
    fused = supports(setup.grid.shape) and setup.case.run.backend == "cuda"
    ways = [property_bytes(setup, in_classes=way) for way in (False, True)]
    points, others = setup.grid.count, estimate(setup).memory
    others -= points * _stored(property_bytes(setup), setup, fused=fused)
    return ClassSavings(
        count,
        class_bytes(count),
        [others + points * _stored(way, setup, fused=fused) for way in ways],
    )


def decompose(setup: WaveSetup, ranks: int) -> DecompositionSummary:
    """Summary of the decomposition for a number of ranks.

    Raises:
        InputError: see `BlockSetup.cut` and `Overlaps.require_accuracy`.
    """
    cut = setup.cut(ranks)
    ranks_along = cut.processes[::-1]
    setup.overlaps.require_accuracy(ranks_along)
    parts = [part_of(setup.grid, cut, rank) for rank in range(ranks)]
    fused = setup.supports_fused(cut)
    memory = [_memory(setup, part, ranks_along, fused) for part in parts]
    overlap = setup.overlaps.of(ranks_along)[::-1]
    ghosts = Ghosts(overlap, overlap, corners=True)
    sent = traffic(cut, [(ghosts, setup.itemsize)] * setup.exchanged_fields)
    summary = DecompositionSummary.of_blocks(cut, memory, sent)
    quantities = _overlap_quantities(setup.overlaps, ranks_along)
    warnings = [*setup.overlaps.warnings(ranks_along)]
    return replace(summary, quantities=quantities, warnings=warnings)


def _overlap_quantities(overlaps: Overlaps, ranks: Sequence[int]) -> list[Quantity]:
    """The overlaps on a number of ranks along x, y and z, and the error expected of them."""
    points, estimate = overlaps.of(ranks), overlaps.estimate(ranks)
    if not estimate:
        return []
    text = f"about {short(estimate)} of the largest pressure, or less"
    return [
        Quantity("overlap", points, "overlap", text=f"{format_extent(points)} points"),
        Quantity("overlap_error", estimate, "difference from one rank", text=text),
    ]


def _memory(setup: WaveSetup, part: Part, ranks: Sequence[int], fused: bool) -> int:
    """Device memory of a rank's arrays and records, bytes.

    Args:
        ranks: number of ranks along x, y and z.
        fused: whether a GPU uses the fused step.
    """
    window = setup.window(part, ranks)
    points = int(np.prod(window.extended, dtype=np.int64))
    fused = fused and setup.case.run.backend == "cuda"
    exchanged = fused and any(window.overlap) and setup.materials.is_dispersive  # the density
    fields = int(setup.itemsize * points * (_arrays(setup, fused=fused) + exchanged))
    properties = points * _stored(property_bytes(setup), setup, fused=fused)
    return fields + properties + setup.output_memory(part)


def passes(medium: AcousticMedium, axes: int) -> int:
    """Minimum number of arrays that a step reads or writes, without properties of the medium.

    The spectrum of a real array counts as one array. As in the fused step, a pass along x reads and
    writes each of its fields once, and spectra stay in a cache between the passes along the other
    axes. On n axes, the gradient takes 1 + n arrays, the velocities 4 n, the divergence 2 n, and
    density and pressure 3 n + 2. Each fractional Laplacian adds 4. If there are any, the densities
    are read again, which adds n.
    """
    count = medium.fractional_laplacians
    return 10 * axes + 3 + 4 * count + axes * (count > 0)


def property_bytes(setup: WaveSetup, *, in_classes: bool | None = None) -> PropertyBytes:
    """Bytes of the properties of the medium.

    Args:
        in_classes: whether they are in classes; by default as the case says.
    """
    classes = setup.in_classes if in_classes is None else in_classes
    size = class_bytes(setup.material_count or MOST) if classes else 0
    return PropertyBytes(setup.materials, setup.itemsize, size, setup.given_densities)


def _stored(properties: PropertyBytes, setup: WaveSetup, *, fused: bool) -> int:
    """Bytes of the properties of a point on the device.

    The fused step and kernels that read classes average densities, unless they are given.
    """
    averaged = fused or properties.class_bytes > 0
    return properties.stored(setup.given_densities if averaged else setup.axes)


def _arrays(setup: WaveSetup, *, fused: bool) -> float:
    """Number of arrays with one value per point on the device, without properties of the medium.

    Args:
        fused: whether the run uses the fused step.
    """
    medium, axes = setup.materials, setup.axes
    fields = 1 + 2 * axes  # pressure, velocity and density
    terms, others = setup.separated_sources
    fields += len(terms)
    if fused:
        has_source_term = any(source.mode == "additive" for source in others)
        return fields + axes + has_source_term  # with spectra
    # Derivatives, two spectra, the work areas of both transforms, and tables of wavenumbers.
    has_filter = any(source.mode == "additive" for source in setup.sources)
    return fields + axes + 4.5 + 0.5 * (has_filter + medium.fractional_laplacians)
