"""What `groundswell check`, the summary and the report say of an earthquake before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from groundswell.case.quantities import Quantity, byte_size
from groundswell.grids.cartesian import in_words, times

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

GRID, RESOLVES = "Grid and time steps", "What the grid resolves"


def quantities(setup: Setup) -> list[Quantity]:
    """Grid, time step, what they resolve, sources and receivers, memory."""
    return [*_grid(setup), *_waves(setup), *_sources(setup)]


def _grid(setup: Setup) -> Iterator[Quantity]:
    grid, dt, steps = setup.grid, setup.dt, setup.steps
    cells = f"{in_words(grid.cells, grid.spacing)}, absorbing layers included"
    yield Quantity("cells", grid.cells, "cells", text=cells, group=GRID)
    yield Quantity("region", grid.region, "region", "cells", times(grid.region), GRID)
    yield Quantity("spacing", grid.spacing, "spacing", "m", group=GRID)
    yield Quantity("precision", setup.case.run.precision, "precision", group=GRID)
    limit = f"{dt:.6g} s; stable up to {setup.largest_step:.6g} s"
    yield Quantity("dt", dt, "time step", "s", limit, GRID)
    yield Quantity("stability_limit", setup.largest_step, unit="s", group=GRID)
    yield Quantity("steps", steps, "steps", text=f"{steps} for {steps * dt:.6g} s", group=GRID)
    sampling = ", ".join(f"{name} every {s:.6g} s" for name, s in setup.sampling.items())
    label = "samples" if sampling else ""
    yield Quantity("sampling", setup.sampling, label, "s", sampling, GRID)
    yield Quantity("memory", setup.memory, "memory", "B", byte_size(setup.memory), GRID)


def _waves(setup: Setup) -> Iterator[Quantity]:
    found, frequency = setup.statistics, setup.resolved_frequency
    yield Quantity(
        "vp_max", found.vp_max, "fastest wave", "m/s", f"{found.vp_max:.5g} m/s", RESOLVES
    )
    yield Quantity("speed_min", found.speed_min, unit="m/s", group=RESOLVES)
    slowest = ""
    if found.vs_min is not None:
        slowest = (
            f"{found.vs_min:.5g} m/s in cell {tuple(found.vs_min_cell or ())}, at a depth of "
            f"{found.vs_min_depth:.5g} m"
        )
    label = "slowest S wave" if slowest else ""
    yield Quantity("vs_min", found.vs_min, label, "m/s", slowest, RESOLVES)
    yield Quantity("vs_min_depth", found.vs_min_depth, unit="m", group=RESOLVES)
    yield Quantity("vs_min_cell", found.vs_min_cell, group=RESOLVES)
    text = f"up to {frequency:.3g} Hz"
    yield Quantity("resolved_frequency", frequency, "frequencies", "Hz", text, RESOLVES)
    error = setup.relaxation.error if setup.relaxation else None
    text = "" if error is None else f"at most {100 * error:.2g} %"
    yield Quantity("attenuation_error", error, "misfit of Q(f)" * bool(text), "", text, RESOLVES)
    fluid = found.fluid_cells
    yield Quantity("fluid_cells", fluid, "fluid" * bool(fluid), "cells", f"{fluid} cells", RESOLVES)
    floored = dict(found.floored)
    text = ", ".join(f"{name} in {n} cells" for name, n in floored.items() if n)
    label = "raised by the floor" if text else ""
    yield Quantity("floored_cells", floored, label, "cells", text, RESOLVES)


def _sources(setup: Setup) -> Iterator[Quantity]:
    frequency, points, count = (
        setup.source_frequency,
        setup.points_per_wavelength,
        len(setup.sources),
    )
    text = (
        f"{count}, 99 % of their energy below {frequency:.3g} Hz, where the slowest wave spans "
        f"{points:.3g} cells"
    )
    yield Quantity("sources", count, "sources", text=text, group=RESOLVES)
    yield Quantity("source_frequency", frequency, unit="Hz", group=RESOLVES)
    yield Quantity("points_per_wavelength", points, group=RESOLVES)
    yield Quantity("magnitude", setup.release.magnitude, group=RESOLVES)
    receivers = len(setup.receivers)
    yield Quantity("receivers", receivers, "receivers", text=f"{receivers}", group=RESOLVES)
