"""The files of a run: fields, profiles, heat fluxes and residuals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from groundswell.arrays import HostArray
from groundswell.case.quantities import Quantity
from groundswell.formats.text import write_json
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.cavity.boxes import Box
from groundswell.solvers.cavity.case import FIELDS, CavityOutput
from groundswell.solvers.cavity.findings import findings_of
from groundswell.solvers.cavity.flow import Flow, places_of_numbers
from groundswell.solvers.cavity.flow_file import write_flow
from groundswell.solvers.cavity.level import Level
from groundswell.solvers.cavity.recording import recording, records_of


class History(Protocol):
    """How a run went, step by step."""

    def write(self, folder: Path) -> Path:
        """Write it as a table."""
        ...

    def convergence(self) -> dict[str, object]:
        """How it ended."""
        ...


class Outputs:
    """Records during a run and gathers the flow of all ranks at its end.

    Args:
        wanted: the section of the case.
        finest: the rank's part of the finest grid.

    Attributes:
        launches: what the recorders launch before each step.
        findings: a few numbers, on rank 0 after `write`.
    """

    def __init__(self, wanted: CavityOutput, finest: Level, history: History) -> None:
        self.findings: list[Quantity] = []
        self._wanted, self._finest, self._history = wanted, finest, history
        fields = {name: field.interior for name, field in finest.copies[0].items()}
        recordable = recording(finest.grid, finest.part)
        records = records_of(finest.grid)
        self._recorders = Recorders(records, recordable, fields, finest.backend, finest.comm)
        at_once = ([launch] for launch in self._recorders.launches)
        self.launches = [*finest.backend.concurrently(*at_once), *self._recorders.tick]

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files that recorders extend during the run."""
        return self._recorders.open(folder, lengths)

    def state(self) -> dict[str, DistributedArray]:
        """The recorders' part of a checkpoint."""
        return self._recorders.state()

    @property
    def warnings(self) -> list[str]:
        """Warnings about records without samples."""
        return self._recorders.warnings

    def write(self, folder: Path) -> list[Path]:
        """Write all results on the finest grid; all ranks call it, rank 0 returns the files."""
        flow, files = self.flow(), self._recorders.write(folder)
        if self._wanted.fields:
            files += self._write_fields(flow, folder / "flow.nc")
        return [*files, *self._write_numbers(flow, folder)] if flow else []

    def _write_numbers(self, flow: Flow, folder: Path) -> list[Path]:
        summary = flow.summary() | self._history.convergence()
        unit = "m/s" * (flow.grid.case.fluid.kind == "properties")
        self.findings = [*findings_of(summary, unit)]
        files = [
            self._history.write(folder),
            flow.write_profiles(folder / "profiles.csv"),
            write_json(folder / "heat.json", summary),
        ]
        has_heat = flow.grid.scales.heat is not None
        return [*files, *([flow.write_nusselt(folder / "nusselt.csv")] if has_heat else [])]

    def _write_fields(self, flow: Flow | None, path: Path) -> list[Path]:
        finest = self._finest
        centre = finest.comm.bcast(flow.centre_pressure if flow else None)
        whole = Box.of_part(finest.grid, finest.part)
        inside = {name: self._own(name, whole) for name in FIELDS}
        inside["p"] -= inside["p"].dtype.type(centre)
        return write_flow(finest.comm, finest.grid, finest.part, inside, path)

    def flow(self) -> Flow | None:
        """The flow for numbers and profiles on rank 0, None on the others; collective."""
        grid = self._finest.grid
        found = {place: self._gather(*place) for place in places_of_numbers(grid)}
        inside = {place: values for place, values in found.items() if values is not None}
        return Flow(grid, inside) if inside else None

    def whole_flow(self) -> Flow:
        """The flow on all points, of the only rank."""
        whole = Box.whole(self._finest.grid)
        return Flow.of(self._finest.grid, {name: self._own(name, whole) for name in FIELDS})

    def _gather(self, name: str, box: Box) -> HostArray | None:
        """A field on a box of the whole grid on rank 0, (nz, ny, nx); temperature in K."""
        part = self._finest.part
        first, last = np.maximum(box.start, part.start), np.add(part.start, part.cells)
        last = np.maximum(np.minimum(box.stop, last), first)
        own = replace(box, start=tuple(first.tolist()), stop=tuple(last.tolist()))
        values, place = self._own(name, own), np.subtract(first, box.start)
        axes = zip(place[::-1].tolist(), values.shape, strict=True)
        parts = self._finest.comm.gather((tuple(slice(at, at + n) for at, n in axes), values))
        if not parts:
            return None
        whole = np.empty(box.cells[::-1], values.dtype)
        for there, piece in parts:
            whole[there] = piece
        return whole

    def _own(self, name: str, box: Box) -> HostArray:
        """A host copy of stored values of this rank, (nz, ny, nx); temperature in K."""
        finest = self._finest
        starts = zip(box.slices, finest.part.start[::-1], strict=True)
        here = tuple(slice(s.start - first, s.stop - first) for s, first in starts)
        values = finest.backend.to_host(finest.copies[0][name].interior[here])
        return values + values.dtype.type(finest.grid.fluid.neutral) if name == "T" else values
