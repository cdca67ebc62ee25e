"""Outputs: seismograms, the surface, snapshots, `[[output.record]]`, and the final fields."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from groundswell.backends import Launch
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.launches import RecordLaunches
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.ring_buffer import Output
from groundswell.seismology.formats.export import export_seismograms
from groundswell.seismology.formats.seismograms import RECORDED_QUANTITIES, VELOCITY
from groundswell.seismology.map_lines.run import write_lines
from groundswell.seismology.receivers import that_record
from groundswell.seismology.recording.fault_series import FaultPointSeries, SlipHistory
from groundswell.seismology.recording.intensity import ReceiverIntensity
from groundswell.seismology.recording.reports import Report
from groundswell.seismology.sources.event import date_attributes
from groundswell.solvers.dgwave.recording.faults import FaultRecords
from groundswell.solvers.dgwave.recording.green import GreenRecords
from groundswell.solvers.dgwave.recording.intensity import IntensityMaps
from groundswell.solvers.dgwave.recording.lattice import has_shaking_map
from groundswell.solvers.dgwave.recording.plasticity import StrainRecords
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.recording.receivers import Seismograms
from groundswell.solvers.dgwave.recording.surface import ShakingMap, SurfaceSeries
from groundswell.solvers.dgwave.recording.volumes import Volumes
from groundswell.spectral_elements.fields import gather_on_root
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.spectral_elements.vtkhdf import LagrangeElements

Series = Seismograms | SurfaceSeries | Volumes | FaultPointSeries | SlipHistory | GreenRecords


class Outputs:
    """All recorders of a case on one rank.

    Attributes:
        launches: their kernels, which run at the beginning of a step and are independent.
        at_end: kernels that run at the end of a step, before the clock advances.
        green: the recorder of strain, whose kernels run in order at the beginning of a step.
        seismograms: the receivers' recorders, by name of the quantity.
    """

    def __init__(self, rank: RankFields) -> None:
        self._rank, self._setup = rank, rank.setup
        self._backend, self._comm = rank.backend, rank.comm
        self._fields = rank.propagation.fields
        setup, clock = self._setup, rank.propagation.clock
        hexahedra, numbers = setup.geometry.hexahedra, rank.elements.numbers
        domain = ElementDomain(self._comm, hexahedra, setup.degree, numbers)
        output, records = setup.case.output, setup.recording(domain)
        self._recorders = Recorders(
            output.record, records, self._fields, self._backend, self._comm, clock
        )
        record = RecordLaunches(self._backend, setup.dtype, clock)
        self.seismograms = {
            quantity.name: Seismograms(rank, domain, record, quantity)
            for quantity in RECORDED_QUANTITIES
            if that_record(quantity.name, setup.survey.receivers)
        }
        self._series: list[Series] = [*self.seismograms.values()]
        if output.surface:
            self._series.append(SurfaceSeries(rank, output.surface))
        if output.volumes:
            self._series.append(Volumes(rank, record, output.volumes))
        self._map = ShakingMap(rank) if has_shaking_map(setup) else None
        wanted = output.intensity
        self.intensity = IntensityMaps(rank, wanted) if wanted and wanted.maps else None
        self._measures = ReceiverIntensity(wanted, rank.backend) if wanted else None
        self._faults, self._strain = _fault_records(rank), _strain_records(rank)
        self.launches: list[Launch] = [
            *chain(*(each.launches for each in self._series)),
            *(self._faults.launches if self._faults else []),
            *(self._map.launches if self._map else []),
            *self._recorders.launches,
        ]
        self.at_end: list[Launch] = self._faults.at_end if self._faults else []
        self._series += self._faults.series if self._faults else []
        self.green = GreenRecords(rank, setup.green) if setup.green else None
        self._series += [self.green] if self.green else []

    @property
    def branches(self) -> list[list[Launch]]:
        """All kernels, in sequences that are independent of each other."""
        sequences = self.intensity.sequences if self.intensity else []
        strains = [self.green.launches] if self.green else []
        return [*([launch] for launch in self.launches), *strains, *sequences]

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files of time series; `lengths` are the samples to keep when a run resumes."""
        own = {
            each.name: each.open(folder, None if lengths is None else lengths[each.name])
            for each in self._series
        }
        return own | self._recorders.open(folder, lengths)

    def state(self) -> dict[str, DistributedArray]:
        """What maps have accumulated, running statistics, and faults, for checkpoints."""
        kept = self._recorders.state()
        for each in (*self._maps, self._faults):
            kept |= each.state() if each else {}
        return kept

    @property
    def reports(self) -> list[Report]:
        """What faults have done, peaks, how much rock has yielded, on rank 0 after `write`."""
        faults = self._faults.results if self._faults else None
        return [each for each in (faults, self._map, self._strain, self._measures) if each]

    def write(self, folder: Path) -> list[Path]:
        """Write the files at the end of the run; rank 0 writes."""
        maps = [path for each in self._maps for path in each.write(folder)]
        records, fields = self._recorders.write(folder), self._final_fields(folder)
        faults = self._faults.write(folder) if self._faults else []
        strain = self._strain.write(folder) if self._strain else []
        whole = [*maps, *faults, *strain, *records, *fields]
        if not self._comm.first:
            return []
        lines = write_lines(folder, self._setup.case.output.map_lines, self._setup.geography)
        return [*whole, *lines, *self._receivers(folder)]

    @property
    def _maps(self) -> list[ShakingMap | IntensityMaps]:
        return [each for each in (self._map, self.intensity) if each]

    def _receivers(self, folder: Path) -> list[Path]:
        """Write seismograms in other formats and their intensity measures, on rank 0."""
        velocity = self.seismograms.get(VELOCITY.name)
        wanted = self._measures if velocity else None
        measures = wanted.write(folder, velocity.read()) if velocity and wanted else []
        return [*self._formats(folder), *measures]

    def _formats(self, folder: Path) -> list[Path]:
        """Write the seismograms in formats other than HDF5, on rank 0."""
        section = self._setup.case.output.seismograms
        if set(section.formats) == {"hdf5"} or not self.seismograms:
            return []
        arrays = [each.read() for each in self.seismograms.values()]
        return export_seismograms(arrays, section, folder)

    def _final_fields(self, folder: Path) -> list[Path]:
        """Write all fields at the end as high-order elements; collective."""
        setup = self._setup
        if not setup.case.output.final_fields:
            return []
        mesh, numbers = setup.geometry.hexahedra, self._rank.elements.numbers
        whole = {
            name: gather_on_root(self._comm, mesh, numbers, self._backend.to_host(array))
            for name, array in self._fields.items()
        }
        if not self._comm.first:
            return []
        attrs = {
            **date_attributes(setup.case, setup.survey),
            "time": setup.time_axis.time(setup.steps),
        }
        elements = LagrangeElements.of(mesh, setup.degree, whole, attrs)
        return [elements.write(folder / "fields.vtkhdf")]


def _strain_records(rank: RankFields) -> StrainRecords | None:
    yielding = rank.propagation.yielding
    return StrainRecords(rank, yielding) if yielding else None


def _fault_records(rank: RankFields) -> FaultRecords | None:
    faults, fault, slip = rank.setup.faults, rank.fault, rank.propagation.fault
    return FaultRecords(rank, faults, fault, slip) if faults and fault and slip else None
