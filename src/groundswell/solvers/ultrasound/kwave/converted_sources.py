"""Sources of an input file of k-Wave as tables `[[source]]` of a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from groundswell.arrays import Floats, HostArray, Integers
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput
from groundswell.solvers.ultrasound.kwave.stored_medium import StoredField
from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.sources import SourceGrid, scales
from groundswell.solvers.ultrasound.window import Window

Plan = Callable[[str, HostArray], str]  # plans a file with these values; returns its name


def source_tables(data: KWaveInput, plan: Plan) -> Iterator[dict[str, object]]:
    """The sources as masks with a signal for each point, in Pa or m/s.

    Raises:
        InputError: a source sets values once only, which a case cannot express.
    """
    for number, source in enumerate(data.sources, 1):
        signals = _amplitudes(source, data)
        signals = signals[int(data.initial_pressure is not None) : data.steps]
        if not len(signals):
            continue
        if source.mode != "dirichlet":  # zeros after the end change nothing
            signals = np.concatenate([signals, np.zeros((1, signals.shape[1]))])
        if len(signals) < 2:
            raise InputError(
                f"{source.field}_source_input sets values in one step only, but signals of cases "
                "have two samples or more"
            )
        points = plan(f"source{number}-points", source.points)
        samples = plan(f"source{number}-signals", signals)
        yield {
            "shape": {"kind": "mask", "file": points},
            **_kind(source.field),
            "mode": source.mode,
            "signal": {"kind": "samples", "interval": data.operators.dt, "file": samples},
        }


def _kind(field: str) -> dict[str, object]:
    """The pressure 1 Pa, or the velocity 1 m/s along an axis."""
    if field == "p":
        return {"pressure": 1.0}
    return {"velocity": 1.0, "direction": [float(field[1] == axis) for axis in "xyz"]}


def _amplitudes(source: PointSource, data: KWaveInput) -> Floats:
    """The signal of each point, Pa or m/s, (samples, points), or one for all points."""
    signals = np.asarray(source.signals, float).reshape(len(source.signals), -1)
    each = np.asarray((source.matrix @ signals.T).T)
    scale = scales(source.mode, _source_grid(data), _axis_of(source.field), source.points)
    found = each / scale
    return found[:, :1] if np.ptp(found, axis=1).max() == 0 else found


def _axis_of(field: str) -> int | None:
    return None if field == "p" else "xyz".index(field[1])


def _source_grid(data: KWaveInput) -> SourceGrid:
    """The grid and the sound speeds, on which the scale of sources depends."""
    operators, speed = data.operators, data.medium.speed

    def speeds(points: Integers) -> Floats:
        if not isinstance(speed, StoredField):
            return np.full(len(points), speed)
        whole = Window.whole_of(operators.grid.cells)
        return speed.within(whole).reshape(-1)[points].astype(float)

    return SourceGrid(operators.grid, (0.0, 0.0, 0.0), speeds, operators.dt, data.steps)
