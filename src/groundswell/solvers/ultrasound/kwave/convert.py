"""Writes an input file of k-Wave as a case: a TOML file, and data files beside it.

The grid of the case includes the absorbing layers. An initial pressure counts as the end of step 1
in k-Wave, so the case has one step less, and its sources leave out their first sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import HostArray, Integers
from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write, exists
from groundswell.formats.netcdf import Variable
from groundswell.formats.toml import toml_text
from groundswell.outputs.files import write_fields
from groundswell.solvers.ultrasound import setup
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.kwave.converted_sources import source_tables
from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput, read_input
from groundswell.solvers.ultrasound.kwave.sensors import CORNERS
from groundswell.solvers.ultrasound.kwave.stored_medium import Stored, values_of
from groundswell.solvers.ultrasound.media.files import ABSORPTION
from groundswell.solvers.ultrasound.window import Window

AXES = "xyz"
UNITS = {"speed": "m s-1", "density": "kg m-3", "absorption": ABSORPTION, "nonlinearity": "1"}
SAME = 1e-5  # relative difference of densities that are equal in single precision
Write = Callable[[Path], object]


def convert(source: Path, target: Path) -> list[Path]:
    """Write an input file of k-Wave as a case, which must not exist.

    Returns:
        The paths of the case and of its data files.

    Raises:
        InputError: the input file cannot be read, a file exists, or a case cannot express what the
            input file describes.
    """
    data = read_input(source)
    with _explained(source):
        conversion = Conversion(data, target.stem)
    paths = [target, *(target.with_name(name) for name in conversion.files)]
    for path in paths:
        if exists(path):
            raise InputError(f"{path} exists already; give another name, or delete it")
    with _removed_on_failure(paths), _explained(source):
        for name, write in conversion.files.items():
            write(target.with_name(name))
        with atomic_write(target) as part:
            part.write_text(f"# From {source.name}.\n{toml_text(conversion.content)}", "utf-8")
        setup.prepare(UltrasoundCase.from_dict(conversion.content, target.parent, target.name))
    return paths


@contextmanager
def _explained(source: Path) -> Iterator[None]:
    """Add to an error that the input file is the reason."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source} cannot be written as a case: {error}") from None


@contextmanager
def _removed_on_failure(paths: Sequence[Path]) -> Iterator[None]:
    """Remove files if the block fails."""
    try:
        yield
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise


class Conversion:
    """The case of an input file.

    Args:
        stem: name of the case without its suffix.

    Attributes:
        content: the tables of the case.
        files: functions that write the data files, by name.

    Raises:
        InputError: a case cannot express what the input file describes.
    """

    def __init__(self, data: KWaveInput, stem: str) -> None:
        self._data, self._stem = data, stem
        self._whole = Window.whole_of(self._data.grid.cells)
        self.files: dict[str, Write] = {}
        if reasons := list(self._obstacles()):
            raise InputError("; ".join(reasons))
        tables = {
            "grid": self._grid(),
            "time": self._time(),
            "boundary": self._boundary(),
            "medium": self._medium(),
            "initial": self._initial(),
            "source": list(source_tables(self._data, self.array)),
            "output": {"record": self._records()},
        }
        filled = {name: table for name, table in tables.items() if table}
        self.content: dict[str, object] = {"solver": "ultrasound", **filled}

    def array(self, name: str, values: HostArray) -> str:
        """Plan a NumPy file; returns its name."""

        def write(path: Path) -> None:
            with atomic_write(path) as part, part.open("wb") as file:
                np.save(file, values)

        full = f"{self._stem}-{name}.npy"
        self.files[full] = write
        return full

    # --- tables -----------------------------------------------------------------------------------

    def _grid(self) -> dict[str, object]:
        grid, n = self._data.grid, self._data.axes
        return {"points": list(grid.cells[:n]), "spacing": list(grid.spacing[:n])}

    def _time(self) -> dict[str, object]:
        operators, steps = self._data.operators, max(self._steps, 1)
        duration = {"duration": operators.dt * steps, "step": operators.dt}
        return {**duration, "reference_speed": operators.reference_speed}

    @property
    def _steps(self) -> int:
        return self._data.steps - (self._data.initial_pressure is not None)

    def _boundary(self) -> dict[str, object]:
        layers, n = self._data.operators.layers, self._data.axes
        assert layers is not None
        widths, strength = list(layers.before[:n]), layers.strength[0]
        return {"width": widths, "strength": strength or 2.0, "inside": True}

    def _medium(self) -> dict[str, Any]:
        medium = self._data.medium
        stored: dict[str, Stored] = {
            "speed": medium.speed,
            "density": medium.density,
            "absorption": medium.coefficient,
            "nonlinearity": medium.nonlinearity,
        }
        uniform = {name: value for name, value in stored.items() if isinstance(value, float)}
        table = {**uniform, "power": medium.power}
        varying = [name for name in stored if name not in uniform]
        if not varying:
            return table
        name = f"{self._stem}-medium.nc"
        self.files[name] = lambda path: self._write_medium(path, {n: stored[n] for n in varying})
        return {**table, "file": {"file": name, "quantity": "properties"}}

    def _write_medium(self, path: Path, stored: Mapping[str, Stored]) -> None:
        grid, dims = self._data.grid, ("z", "y", "x")
        places = {axis: np.arange(grid.cells[n]) * grid.spacing[n] for n, axis in enumerate(AXES)}
        coordinates = {
            axis: Variable((axis,), at, attrs={"units": "m"}) for axis, at in places.items()
        }
        fields = {
            name: Variable(dims, values_of(value, self._whole), attrs={"units": UNITS[name]})
            for name, value in stored.items()
        }
        write_fields(path, coordinates, fields, {})

    def _initial(self) -> dict[str, object]:
        initial = self._data.initial_pressure
        if initial is None:
            return {}
        name = self.array("initial", initial.within(self._whole))
        return {"kind": "array", "file": name, "smooth": False}

    def _records(self) -> list[dict[str, object]]:
        """A record of the pressure for the points of the mask, or for each cuboid."""
        mask = self._data.mask
        if mask.name != CORNERS:
            where = {"kind": "mask", "file": self.array("sensors", np.unique(mask.values - 1))}
            return [{"fields": ["p"], "where": where, "file": "sensors.nc"}]
        return [
            {"fields": ["p"], "where": self._box(corners - 1), "file": f"sensors{n}.nc"}
            for n, corners in enumerate(mask.values, 1)
        ]

    def _box(self, corners: Integers) -> dict[str, object]:
        """The box around the cells of a cuboid, given its first and last points (x, y, z)."""
        spacing = np.array(self._data.grid.spacing)
        low, high = (corners[:3] - 0.25) * spacing, (corners[3:] + 0.25) * spacing
        return {"kind": "box", "low": low.tolist(), "high": high.tolist()}

    # --- what cases cannot express ----------------------------------------------------------------

    def _obstacles(self) -> Iterator[str]:
        """Reasons why a case cannot express the input file."""
        data, layers = self._data, self._data.operators.layers
        assert layers is not None
        strengths = {layers.strength[n] for n in range(data.axes) if layers.before[n]}
        if len(strengths) > 1 or 0.0 in strengths:
            yield "cases have one strength of absorbing layers, above 0, but the pml alphas differ"
        if data.medium.nonlinear and not np.any(data.materials.nonlinearity):
            yield "nonlinear_flag = 1 with BonA = 0, but cases without nonlinearity are linear"
        if self._steps < 1:
            yield "the initial pressure is its only step"
        for axis in range(data.axes):
            if not self._has_mean_density(data, axis):
                yield f"rho0_sg{AXES[axis]} is not the mean of two neighbours of rho0"

    def _has_mean_density(self, data: KWaveInput, axis: int) -> bool:
        """Whether densities at velocity points are means, but for the last ones in a layer."""
        density = np.asarray(values_of(data.medium.density, self._whole), float)
        found = np.asarray(values_of(data.medium.staggered[axis], self._whole), float)
        if density.ndim == 0:
            return bool(abs(found - density) <= SAME * density)
        means = (density + np.roll(density, -1, 2 - axis)) / 2
        wrong = np.abs(found - means) > SAME * means
        layers = data.operators.layers
        assert layers is not None
        inner = wrong.swapaxes(0, 2 - axis)[: -1 if layers.after[axis] else None]
        return not inner.any()
