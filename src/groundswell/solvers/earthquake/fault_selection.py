"""Which values of a rank's faults time series take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Integers
from groundswell.outputs.recording import Frame, PointSelection
from groundswell.seismology.recording.fault_series import RankValues
from groundswell.solvers.earthquake.fault_slip import RECORDED
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.plane import Kind
from groundswell.solvers.earthquake.rank_faults import RankFaults


def select_centres(
    names: Sequence[str], faults: Sequence[Fault], own: RankFaults, points: Integers
) -> RankValues:
    """Fields at some of the centres of cells of all faults, as far as this rank has them.

    Args:
        names: of RECORDED.
        points: numbers of the centres.
    """
    places = _places(faults, own)[points]
    mine = np.flatnonzero(places >= 0)
    selection = PointSelection(
        (len(points),),
        (len(mine),),
        (mine,),
        Frame({}, {}),
        np.tile(places[mine][None, :, None], (len(names), 1, 1)),
        taps=(1,),
    )
    return RankValues([own.recorded[RECORDED.index(name)] for name in names], selection)


def _places(faults: Sequence[Fault], own: RankFaults) -> Integers:
    """Where the centres of cells of all faults are in the rank's records; -1 where they are not."""
    found = []
    for fault, slip, start in zip(faults, own.slips, own.starts, strict=False):
        inside = fault.plane.slips(Kind.CENTRE)
        numbers = slip.window.numbers() if slip else np.full(inside.shape, -1)
        at = numbers[inside]
        found.append(np.where(at >= 0, at + start, -1))
    return np.concatenate(found)
