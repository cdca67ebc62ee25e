"""The file of a run with a force: NetCDF-4 of the strain at points, appended during the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import HostArray
from groundswell.case.common import Case
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length
from groundswell.formats.netcdf import TIME, Variable, create_netcdf
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.green.frames import FRAME, SHIFT, write_frame
from groundswell.seismology.green.points import AXES, TENSOR, GreenSurvey, StrainPoints

FILE = f"{GREEN}.h5"
STRAIN = "strain"
# Sections of a case that do not change the waves of a force.
ELSEWHERE = ("title", "time", "source", "receiver", "receivers", "event", "output", "run")
_CHUNK_SAMPLES = 512
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class GreenTimes:
    """The times of the samples of strain.

    Args:
        dt: time step of the run, s.
        every: steps between samples.
        start: time of the first sample, s: half a step after the first step, because strain is
            defined between the times of velocity.
    """

    dt: float
    every: int
    start: float

    @property
    def interval(self) -> float:
        """Time between samples, s."""
        return self.every * self.dt


class GreenWriter(AppendableFile):
    """Appends strain (samples, points, components) to a file (point, component, time).

    Args:
        medium: digest of the medium, see `medium_digest`.
        attrs: more attributes of the file.
        resume: number of samples to keep of an earlier run's file; None starts a new file.
        dtype: type of the strains in the file.

    Raises:
        InputError: the file to resume does not belong to this case.
        RunFailed: the disk is full.
    """

    def __init__(
        self,
        path: Path,
        survey: GreenSurvey,
        times: GreenTimes,
        attrs: Mapping[str, object],
        resume: int | None,
        dtype: str,
    ) -> None:
        self._survey, self._times, self._attrs, self._dtype = survey, times, attrs, np.dtype(dtype)
        points, components = survey.points.basis.shape[:2]
        self._shape = points, components
        shapes = {"time": (None,), STRAIN: (points, components, None)}
        super().__init__(path, shapes, resume)

    def append(self, block: HostArray, _: range) -> None:
        """Append strains (samples, points * components).

        Raises:
            RunFailed: the disk is full; all earlier samples are still in the file.
        """
        numbers = np.arange(self.length, self.length + len(block))
        strain = block.reshape(-1, *self._shape).transpose(1, 2, 0).astype(self._dtype)
        times = self._times.start + self._times.interval * numbers
        self._extend({"time": times, STRAIN: strain})

    def _create(self, part: Path) -> None:
        points, components = self._shape
        row = components * _CHUNK_SAMPLES * self._dtype.itemsize
        chunks = (chunk_length(points, _CHUNK_BYTES // row), components, _CHUNK_SAMPLES)
        force = self._survey.force.source
        variables = {
            "time": TIME,
            **point_variables(self._survey.points),
            "force_function": Variable(
                ("force_time",),
                force.samples,
                attrs={"long_name": "force over its largest, from force_start on", "units": "1"},
            ),
            STRAIN: Variable(
                ("point", "component", "time"),
                dtype=self._dtype,
                chunks=chunks,
                attrs={"units": "1", "long_name": "strain contracted with the tensors of basis"},
            ),
        }
        sizes = {"point": points, "component": components, "tensor": 6, "time": None}
        sizes["force_time"] = force.samples.size
        create_netcdf(part, sizes, variables, {**force_attributes(self._survey), **self._header})

    @property
    def _header(self) -> dict[str, object]:
        times = self._times
        numbers = {"time_step": times.dt, "interval": times.interval, "start": times.start}
        return {**numbers, **{name: of for name, of in self._attrs.items() if of is not None}}


def point_variables(points: StrainPoints) -> dict[str, Variable]:
    """Positions, moduli and tensors of points as variables."""

    def of_points(values: HostArray, units: str, meaning: str) -> Variable:
        return Variable(("point",), values, attrs={"units": units, "long_name": meaning})

    x, y, depth = points.positions.T
    return {
        "component": Variable(("component",), [*points.components]),
        "tensor": Variable(("tensor",), [*TENSOR]),
        "x": of_points(x, "m", "distance along the grid's x axis"),
        "y": of_points(y, "m", "distance along the grid's y axis"),
        "depth": of_points(depth, "m", "depth below the surface"),
        "lam": of_points(points.lam, "Pa", "first Lame parameter"),
        "mu": of_points(points.mu, "Pa", "shear modulus"),
        "basis": Variable(
            ("point", "component", "tensor"),
            points.basis,
            attrs={"units": "1", "long_name": "tensor with which strain is contracted"},
        ),
    }


def force_attributes(survey: GreenSurvey) -> dict[str, object]:
    """The station and its force as attributes."""
    force, points = survey.force, survey.points
    x, y, depth = force.source.position
    frame = {FRAME: write_frame(points.frame), SHIFT: points.shift} if points.frame else {}
    return {
        **frame,
        "station": force.station,
        "network": force.network,
        **{"station_x": x, "station_y": y, "station_depth": depth},
        "force_axis": AXES[force.axis],
        "force": force.size,
        "impulse": force.impulse,
        "centroid": force.centroid,
        "force_start": force.source.start,
        "force_step": force.source.step,
    }


def medium_digest(case: Case) -> str:
    """Digest of what determines the waves of a force: grid, medium, attenuation, boundaries."""
    from hashlib import file_digest, sha256

    parts = [case.digest(ELSEWHERE)]
    for path in case.data_files(ELSEWHERE):
        with path.open("rb") as file:
            parts.append(file_digest(file, "sha256").hexdigest())
    return sha256(" ".join(parts).encode()).hexdigest()
