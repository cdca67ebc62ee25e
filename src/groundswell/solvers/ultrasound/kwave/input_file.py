"""k-Wave's input files, formats 1.0 to 1.2: reading and validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from groundswell.errors import InputError, quoted
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.formats.damage import read_errors_reported
from groundswell.grids.cartesian import Grid, Triple
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.kwave.datasets import InputDatasets, attribute
from groundswell.solvers.ultrasound.kwave.materials import find_materials
from groundswell.solvers.ultrasound.kwave.sensors import (
    CORNERS,
    INDEX,
    SensorMask,
    cuboids,
    sensor_points,
)
from groundswell.solvers.ultrasound.kwave.sources import read_sources
from groundswell.solvers.ultrasound.kwave.stored_medium import (
    KIND,
    Stored,
    StoredField,
    StoredMedium,
)
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import AbsorbingLayers, SpectralOperators
from groundswell.solvers.ultrasound.point_source import PointSource

VERSIONS = ("1.0", "1.1", "1.2")
LOSSLESS, POWER_LAW, THERMOVISCOUS = range(3)  # values of absorbing_flag


@dataclass(frozen=True)
class KWaveInput:
    """The content of an input file; ranks read their parts of the medium later.

    Args:
        operators: the grid, which includes the absorbing layers, the time step and the reference
            speed.
        medium: the medium.
        materials: some points of it, among them all extremes.
        material_count: number of different materials; None if there are more than a table of
            classes has.
        sources: time-dependent sources.
        initial_pressure: pressure at the end of the first step, Pa.
        steps: number of steps.
        mask: the points that are sampled.
        scalars: scalars of the file, which the output file repeats.
    """

    operators: SpectralOperators
    medium: StoredMedium
    materials: AcousticMedium
    material_count: int | None
    sources: tuple[PointSource, ...]
    initial_pressure: StoredField | None
    steps: int
    mask: SensorMask
    scalars: Mapping[str, object]

    @property
    def grid(self) -> Grid:
        """The grid, absorbing layers included."""
        return self.operators.grid

    @property
    def axes(self) -> int:
        """Number of dimensions."""
        return 3 if self.grid.cells[2] > 1 else 2


def read_input(
    path: str | Path, steps: int | None = None, comm: Communicator | None = None
) -> KWaveInput:
    """Read an input file; all ranks must call it. Each rank checks some planes of the medium.

    Args:
        steps: number of steps; by default that of the file.
        comm: the ranks.

    Raises:
        InputError: the file is missing or damaged, is not an input file, or describes a simulation
            that the solver for fluids cannot run.
    """
    job = comm or SerialCommunicator()
    return job.collective_try(lambda: _read_file(Path(path), steps, job))


def _read_file(path: Path, steps: int | None, comm: Communicator) -> KWaveInput:
    if not path.is_file():
        raise InputError(f"the input file {path} does not exist; check its name")
    with read_errors_reported(path, KIND), h5py.File(path, locking=False) as file:
        _require_input(file, path)
        return _read(InputDatasets(file, path), steps, comm)


def _require_input(file: h5py.File, path: Path) -> None:
    """Check the type and the version of a file."""
    kind = attribute(file, "file_type")
    if kind != "input":
        raise InputError(f'{path}: file_type is {quoted(kind)}, but it must be "input"')
    version = f"{attribute(file, 'major_version')}.{attribute(file, 'minor_version')}"
    if version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise InputError(f"{path} has the format {quoted(version)}; known: {known}")


def _read(file: InputDatasets, steps: int | None, comm: Communicator) -> KWaveInput:
    _refuse_other_solvers(file)
    operators = _operators(file)
    grid = operators.grid
    axes = 3 if grid.cells[2] > 1 else 2
    count = file.count("Nt", at_least=1)
    file.scalars["Nt"] = np.uint64(steps or count)
    medium, initial = _medium(file, grid, axes), _initial_pressure(file, grid)
    sources, mask = read_sources(file, axes, grid.count), _mask(file, grid)
    materials = find_materials(file, medium, initial, grid.shape, comm)
    done = steps or count
    return KWaveInput(operators, medium, *materials, sources, initial, done, mask, file.scalars)


def _refuse_other_solvers(file: InputDatasets) -> None:
    """Raise InputError for grids and media of k-Wave's other solvers."""
    kinds = {
        "nonuniform_grid_flag": ("grids with varying spacing", "write it on a uniform grid"),
        "axisymmetric_flag": ("axisymmetric grids", "write it in three dimensions"),
        "elastic_flag": ("elastic media", "write it for a fluid"),
    }
    for name, (kind, cure) in kinds.items():
        if file.choice(name, (0, 1), default=0):
            raise file.error(
                f"{name} = 1, but {kind} are not supported; {cure}, or run it with k-Wave"
            )


def _operators(file: InputDatasets) -> SpectralOperators:
    nx, ny, nz = cells = tuple(file.count(name, at_least=1) for name in ("Nx", "Ny", "Nz"))
    used = "xyz" if nz > 1 else "xy"
    spacing = {axis: file.number(f"d{axis}", above=0) for axis in used}
    widths = [file.count(f"pml_{axis}_size", None if axis in used else 0) for axis in "xyz"]
    for axis, width, n in zip(used, widths, cells, strict=False):
        if 2 * width > n:
            raise file.error(f"pml_{axis}_size = {width}: two such layers exceed N{axis} = {n}")
    strength = [file.number(f"pml_{axis}_alpha") if axis in used else 0.0 for axis in "xyz"]
    if min(strength) < 0:
        raise file.error(f"the pml alphas are {strength}, but layers can only absorb")
    before: Triple = (widths[0], widths[1], widths[2] if nz > 1 else 0)
    grid = Grid((nx, ny, nz), (spacing["x"], spacing["y"], spacing.get("z", spacing["x"])))
    layers = AbsorbingLayers(before, before, (strength[0], strength[1], strength[2]))
    step, speed = file.number("dt", above=0), file.number("c_ref", above=0)
    return SpectralOperators(grid, step, speed, layers)


def _medium(file: InputDatasets, grid: Grid, axes: int) -> StoredMedium:
    density = file.stored("rho0", grid.shape, above=0)
    names = [f"rho0_sg{axis}" for axis in "xyz"[:axes]]
    staggered = [file.stored(name, grid.shape, above=0) for name in names]
    for name, values in zip(names, staggered, strict=True):
        if isinstance(values, StoredField) != isinstance(density, StoredField):
            raise file.error(f"rho0 and {name} must both be one number or both vary in space")
    coefficient, power = _absorption(file, grid)
    nonlinear = bool(file.choice("nonlinear_flag", (0, 1)))
    return StoredMedium(
        speed=file.stored("c0", grid.shape, above=0),
        density=density,
        coefficient=coefficient,
        nonlinearity=file.stored("BonA", grid.shape) if nonlinear else 0.0,
        staggered=staggered,
        power=power,
        nonlinear=nonlinear,
    )


def _absorption(file: InputDatasets, grid: Grid) -> tuple[Stored, float]:
    """Coefficient, dB / (MHz^y cm), and exponent y of the absorption."""
    kind = file.choice("absorbing_flag", (LOSSLESS, POWER_LAW, THERMOVISCOUS))
    if kind == LOSSLESS:
        return 0.0, STOKES
    power = STOKES if kind == THERMOVISCOUS else file.number("alpha_power")
    if not 0 <= power < 3 or power == 1:
        raise file.error(f"alpha_power = {power:g}, allowed are 0 to 3 except 1 and 3")
    return file.stored("alpha_coeff", grid.shape), power


def _initial_pressure(file: InputDatasets, grid: Grid) -> StoredField | None:
    if not file.choice("p0_source_flag", (0, 1)):
        return None
    return file.field("p0_source_input", grid.shape)


def _mask(file: InputDatasets, grid: Grid) -> SensorMask:
    """The sensor mask: a list of points or, from format 1.1 on, cuboids."""
    if not file.choice("sensor_mask_type", (0, 1), default=0):
        points = file.indices(INDEX, grid.count)
        return SensorMask(INDEX, points + 1, (sensor_points(points),))
    corners = file.indices(CORNERS, max(grid.cells))
    if corners.size % 6:
        raise file.error(f"{CORNERS} has {corners.size} values, but each cuboid needs 6")
    corners = corners.reshape(-1, 6)
    first, last = corners[:, :3], corners[:, 3:]
    if (first > last).any() or (last >= np.array(grid.cells)).any():
        raise file.error(f"{CORNERS} contains a cuboid that is empty or leaves the grid")
    return SensorMask(CORNERS, corners + 1, cuboids(first, last))
