"""Periodic axes of a grid that one process holds: its ghost layers come from its own far side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundswell.backends import Backend, Cells, Launch, Source
from groundswell.grids.cartesian import Field, Layout

FIELDS_AT_ONCE = 3


def periodic_exchange(
    backend: Backend, layout: Layout, fields: Sequence[Field], axes: str, double: bool
) -> list[Launch]:
    """Launches that fill the ghost layers of `fields` along `axes` ("x", "y" or both), in order.

    Corners come out right because the second axis copies what the first one filled.
    """
    constants = {**layout.constants(), "GHOSTS": layout.ghosts}
    if double:
        constants["DOUBLE_PRECISION"] = 1
    module = backend.compile(Source(Path(__file__).parent / "wrap.h", constants))
    nx, ny, nz = (n + 2 * layout.ghosts for n in layout.cells)
    two = 2 * layout.ghosts
    extents = {"x": Cells(two, ny, nz), "y": Cells(nx, two, nz)}
    spare = -len(fields) % FIELDS_AT_ONCE
    whole = [*fields, *([fields[-1]] * spare)]  # copying one twice does no harm
    groups = [whole[n : n + FIELDS_AT_ONCE] for n in range(0, len(whole), FIELDS_AT_ONCE)]
    return [
        module.launch(f"wrap_{axis}", extents[axis], *(field.interior for field in group))
        for axis in axes
        for group in groups
    ]
