"""The files of a run: fields, profiles, heat fluxes and residuals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from groundswell.arrays import HostArray
from groundswell.case.quantities import Quantity
from groundswell.formats.text import write_json
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.cavity.case import FIELDS, CavityOutput
from groundswell.solvers.cavity.findings import findings_of
from groundswell.solvers.cavity.flow import Flow
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

    def write(self, folder: Path) -> list[Path]:
        """Write all results on the finest grid; rank 0 writes, and the others return no files."""
        flow, records = self.flow(), self._recorders.write(folder)
        if flow is None:
            return []
        summary = flow.summary() | self._history.convergence()
        unit = "m/s" * (flow.grid.case.fluid.kind == "properties")
        self.findings = [*findings_of(summary, unit)]
        files = [
            *records,
            self._history.write(folder),
            flow.write_profiles(folder / "profiles.csv"),
            write_json(folder / "heat.json", summary),
        ]
        if flow.grid.scales.heat is not None:
            files.append(flow.write_nusselt(folder / "nusselt.csv"))
        if self._wanted.fields:
            files.append(flow.write(folder / "flow.nc"))
        return files

    def flow(self) -> Flow | None:
        """The whole flow on rank 0, None on the others; collective."""
        whole = {name: self._gather(name) for name in FIELDS}
        fields = {name: values for name, values in whole.items() if values is not None}
        return Flow.of(self._finest.grid, fields) if fields else None

    def _gather(self, name: str) -> HostArray | None:
        """A field over the whole grid on rank 0, (nz, ny, nx); temperature in K."""
        finest = self._finest
        distributed = DistributedArray.of_region(finest.copies[0][name].interior, finest.part)
        whole = distributed.gather(finest.backend, finest.comm)
        if whole is not None and name == "T":
            whole += whole.dtype.type(finest.grid.fluid.neutral)
        return whole
