"""What is recorded of faults: slip, rupture times and stresses at the centres of their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, HostArray, Mask
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.formats.fault_maps import NAME, write_fault_map
from groundswell.solvers.earthquake.fault_slip import RECORDED, FaultSlip
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.plane import FaultPlane, Kind


class FaultRecords:
    """The faults of a run.

    Args:
        slips: the jumps across each of them; None where another rank has the fault.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        slips: Sequence[FaultSlip | None],
        backend: Backend,
        comm: Communicator,
    ) -> None:
        self._faults, self._slips, self._backend, self._comm = faults, slips, backend, comm

    def state(self) -> dict[str, DistributedArray]:
        """Jumps, slip, state of friction and records, for checkpoints."""
        return {
            f"fault/{fault.name}/{name}": array
            for fault, slip in zip(self._faults, self._slips, strict=True)
            for name, array in self._arrays(fault, slip).items()
        }

    def _arrays(self, fault: Fault, slip: FaultSlip | None) -> dict[str, DistributedArray]:
        shapes = FaultSlip.shapes(fault.plane)
        return {name: self._whole(slip, name, shape) for name, shape in shapes.items()}

    def _whole(self, slip: FaultSlip | None, name: str, shape: tuple[int, ...]) -> DistributedArray:
        """An array of a fault, all of which one rank has."""
        if slip is None:
            return DistributedArray(self._backend.zeros((0,), "f8"), shape, (), ())
        everything = tuple(slice(0, n) for n in shape)
        own = ((everything, everything),)
        return DistributedArray(slip.arrays[name], shape, own, own)

    def write(self, folder: Path, attrs: Mapping[str, object]) -> list[Path]:
        """Write `fault.nc`; all ranks call it, rank 0 writes.

        Args:
            attrs: attributes of the file.
        """
        found = [self._gather(*pair) for pair in zip(self._faults, self._slips, strict=True)]
        if not self._comm.first or not self._faults:
            return []
        points = {fault.name: fault.points for fault in self._faults}
        parts = [at_centres(f.plane, a) for f, a in zip(self._faults, found, strict=True)]
        values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return [write_fault_map(folder / NAME, points, values, attrs)]

    def _gather(self, fault: Fault, slip: FaultSlip | None) -> dict[str, HostArray]:
        """The arrays of a fault at rank 0; elsewhere nothing."""
        arrays = self._arrays(fault, slip).items()
        gathered = {name: array.gather(self._backend, self._comm) for name, array in arrays}
        return {name: array for name, array in gathered.items() if array is not None}


def at_centres(plane: FaultPlane, arrays: Mapping[str, HostArray]) -> dict[str, Floats]:
    """Values of a fault map at the centres of a fault's cells, (cells,).

    Args:
        arrays: those of `FaultSlip`.
    """
    inside = plane.slips(Kind.CENTRE)
    named = dict(zip(RECORDED, arrays["recorded"], strict=True))
    slip, state = arrays["slip"], arrays["state"]
    found = {name: named[name] for name in ("normal_stress", "peak_rate")}
    for name, (along, down) in {
        "slip": (_beside(slip[0]) / 2, _below(slip[1]) / 2),
        "rate": (named["rate_along"], named["rate_down"]),
        "shear": (named["shear_along"], named["shear_down"]),
    }.items():
        found |= {f"{name}_strike": plane.sign * along, f"{name}_updip": -plane.sign * down}
    slips = np.stack([plane.slips(kind) for kind in (Kind.ALONG, Kind.DOWN)])
    found["state"] = _mean_around(state, slips)
    onset = arrays["onset"]
    found["rupture_time"] = _mean_around(onset, np.isfinite(onset), none=np.inf)
    return {name: values[inside] for name, values in found.items()}


def _beside(values: HostArray) -> HostArray:
    """Sums over both ends of a cell along strike."""
    return np.asarray(values + np.roll(values, -1, axis=1))


def _below(values: HostArray) -> HostArray:
    """Sums over the upper and the lower end of a cell."""
    return np.asarray(values + np.roll(values, -1, axis=0))


def _mean_around(values: HostArray, valid: Mask, none: float = 0.0) -> Floats:
    """Mean of the points around a cell with valid values; `none` where there are none."""
    counts = _around(valid.astype(float))
    sums = _around(np.where(valid, values, 0.0))
    return np.where(counts > 0, sums / np.maximum(counts, 1), none)


def _around(values: HostArray) -> HostArray:
    """Sums over the four points around a cell."""
    along, down = values
    return _beside(along) + _below(down)
