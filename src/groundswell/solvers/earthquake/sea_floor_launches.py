"""Launches of kernels/sea_floor.h, which correct differences at boundaries of fluids."""

from __future__ import annotations

from collections.abc import Mapping

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Items, Launch, Module
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Layout, Part
from groundswell.solvers.earthquake.sea_floor import CorrectionTerms, find_differences
from groundswell.solvers.earthquake.setup import Setup


class SeaFloor:
    """Boundaries of fluids in a rank's part of the grid.

    Attributes:
        terms: what each kernel adds; empty if there is no fluid.
    """

    def __init__(self, setup: Setup, backend: Backend, part: Part, module: Module) -> None:
        self._setup, self._backend, self._module = setup, backend, module
        self._layout = Layout(part.cells, setup.layout.itemsize)
        self.terms = self._find_terms(part)

    def _find_terms(self, part: Part) -> dict[str, CorrectionTerms]:
        phases, top = self._setup.ground.phases, self._setup.ground.free_surface
        if phases is None:
            return {}
        differences = find_differences(phases, part, free_surface=top)
        return {
            "correct_velocity": differences.velocity_terms(part, top),
            "correct_stress": differences.stress_terms(part),
        }

    def correct(self, kernel: str, box: Block, arrays: Mapping[str, DeviceArray]) -> list[Launch]:
        """The launch that corrects differences in a box, if any."""
        if kernel not in self.terms:
            return []
        tables = self.terms[kernel].tables(box, self._layout, self._setup.dtype)
        count = len(tables["targets"])
        if not count:
            return []
        on_device = {name: self._backend.to_device(table) for name, table in tables.items()}
        launch = self._module.launch(kernel, Items(count), **arrays, **on_device, count=count)
        return [launch]
