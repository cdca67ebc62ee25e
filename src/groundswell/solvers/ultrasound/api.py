"""Ultrasound from Python: `simulate` takes a medium, sources and initial pressures as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import is_sequence, listed
from groundswell.case.section import CaseTable
from groundswell.errors import InputError
from groundswell.simulation.result import Result
from groundswell.simulation.temporary import run_built
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.media.case import PROPERTIES


class Sections(TypedDict, total=False):
    """Further keyword arguments of `build_case`; `simulate` describes them."""

    records: Sequence[CaseTable]
    backend: str
    precision: str
    title: str | None
    grid: CaseTable | None
    time: CaseTable | None
    boundary: CaseTable | None
    overlap: CaseTable | None
    output: CaseTable | None
    run: CaseTable | None


class CaseArguments(Sections, total=False):
    """Keyword arguments of `simulate` that describe the case."""

    spacing: Required[float | str | Sequence[float | str]]
    duration: Required[float | str]
    points: Sequence[int] | None


def build_case(
    medium: CaseTable,
    sources: Sequence[CaseTable] = (),
    initial: ArrayLike | CaseTable | None = None,
    *,
    spacing: float | str | Sequence[float | str],
    duration: float | str,
    points: Sequence[int] | None = None,
    **sections: Unpack[Sections],
) -> UltrasoundCase:
    """Build the case that `simulate` runs, for `check` and `Simulation`; see `simulate`.

    >>> import groundswell as gs
    >>> line = {"kind": "line", "start": (1e-3, 2e-3), "end": (1e-3, 10e-3)}
    >>> tone = {"kind": "sine", "frequency": "1 MHz"}
    >>> source = {"shape": line, "signal": tone, "pressure": "100 kPa"}
    >>> water = {"speed": 1500.0, "density": 1000.0}
    >>> grid = {"points": (64, 48), "spacing": "0.25 mm", "duration": "20 us"}
    >>> case = gs.ultrasound.build_case(water, [source], **grid)
    >>> gs.check(case)["problems"]
    []

    Raises:
        CaseError: the case is invalid; the error lists all violations.
    """
    if not isinstance(medium, Mapping):
        raise InputError(f"medium = {medium!r:.60}; give a table such as {{'speed': 1500.0}}")
    properties = {name: _as_property(name, value) for name, value in medium.items()}
    pressure = _as_initial(initial)
    arrays = [*properties.values(), (pressure or {}).get("values")]
    points = _points_of(arrays) if points is None else listed(points)
    grid = {"points": points, "spacing": listed(spacing)}
    output = sections.pop("output", None) or {}
    records = _records_of(output.get("record", ()), sections.pop("records", ()))
    run = {
        "backend": sections.pop("backend", "cpu"),
        "precision": sections.pop("precision", "single"),
    }
    return UltrasoundCase(
        grid={**grid, **(sections.pop("grid", None) or {})},
        medium=properties,
        source=listed(sources),
        initial=pressure,
        time={"duration": duration, **(sections.pop("time", None) or {})},
        output={**output, "record": records},
        run={**run, **(sections.pop("run", None) or {})},
        **{name: content for name, content in sections.items() if content is not None},
    )


def simulate(
    medium: CaseTable,
    sources: Sequence[CaseTable] = (),
    initial: ArrayLike | CaseTable | None = None,
    *,
    folder: str | Path | None = None,
    overwrite: bool = False,
    quiet: bool = True,
    **case: Unpack[CaseArguments],
) -> Result:
    """Compute the sound of transducers or of an initial pressure.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> speed = np.full((48, 64), 1500.0)  # y, x
    >>> speed[:, 30:36] = 2400.0
    >>> arc = {"kind": "arc", "apex": (1e-3, 6e-3), "radius": "10 mm", "diameter": "8 mm",
    ...        "focus": (11e-3, 6e-3)}
    >>> burst = {"kind": "burst", "frequency": "1 MHz", "cycles": 3}
    >>> result = gs.ultrasound.simulate(
    ...     {"speed": speed, "density": 1000.0},
    ...     [{"shape": arc, "signal": burst, "pressure": "1 MPa"}],
    ...     spacing="0.25 mm",
    ...     duration="8 us",
    ... )
    >>> result.fields["p_max"].shape  # z, y, x
    (1, 48, 64)
    >>> bool(result.focus.pressure > 1e6)
    True

    Args:
        medium: a table with the keys of `[medium]` in a case file. `speed`, `density`, `absorption`
            and `nonlinearity` are numbers or arrays (nz, ny, nx), or (ny, nx) in two dimensions.
            Quantities are numbers in SI units or text such as "1.5 km/s".
        sources: tables with the keys of `[[source]]`.
        initial: initial pressure, Pa: an array with one value per point of the region, or a table
            with the keys of `[initial]`.
        folder: results folder. By default a temporary folder, `result.folder`, which is deleted
            together with the result.
        overwrite: replace results of another case in that folder.
        quiet: show no progress.
        case: `spacing`, the distance between neighbouring points, m, or one for each axis
            (x, y, z); `duration` of the run, s; `points` (x, y, z), required without an array;
            `records`, tables with the keys of `[[output.record]]`, which may also be in `output`;
            `backend` ("cpu" or "cuda");
            `precision` ("single" or "double"); the sections `grid`, `time`, `boundary`,
            `overlap`, `output` and `run` as tables, for their other keys; the text `title`.

    Returns:
        `result.fields`, an `xarray.Dataset` (z, y, x) of the maximum, minimum and root mean square
        pressure; `result.focus`, the largest pressure outside bone, its position and the -6 dB
        widths; `result.records`, recorded fields by file; `result.medium`, the properties that vary
        in space; `result.summary`; `result.folder`.

    Raises:
        InputError: the input is invalid; nothing has been written.
        RunFailed: the run started and failed.
    """
    built = build_case(medium, sources, initial, **case)
    return run_built(built, folder, overwrite=overwrite, quiet=quiet)


def _records_of(in_section: object, given: object) -> object:
    """The tables of `[[output.record]]`: those of the section `output`, and those of `records`."""
    if is_sequence(in_section) and is_sequence(given):
        return [*listed(in_section), *listed(given)]
    return listed(given or in_section)


def _as_property(name: str, value: object) -> object:
    """The value of a key of `[medium]`; sequences and xarray objects become NumPy arrays."""
    if name not in PROPERTIES or value is None or isinstance(value, str | Real):
        return value
    return np.asarray(value)


def _as_initial(initial: ArrayLike | CaseTable | None) -> dict[str, object] | None:
    """The table of an initial pressure."""
    if initial is None or isinstance(initial, Mapping):
        return None if initial is None else dict(initial)
    return {"kind": "array", "values": np.asarray(initial)}


def _points_of(values: Sequence[object]) -> tuple[int, ...] | None:
    """Number of points (x, y, z) of the first array, or (x, y) in 2-D; None without an array."""
    shape = next((value.shape for value in values if isinstance(value, np.ndarray)), None)
    if shape is None:
        return None
    return tuple(shape[1:] if len(shape) == 3 and shape[0] == 1 else shape)[::-1]
