"""Collects the kernel sources that a solver compiles, without compiling them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from groundswell.backends import Source
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.named_arguments import ParameterNames
from groundswell.backends.signature import signature
from groundswell.backends.sliced_ellpack import SparseRows
from groundswell.exchange.gather_scatter.rows import Operand, reduce_rows
from groundswell.exchange.gather_scatter.tiles import reduce_in_place
from groundswell.grids.cartesian import Grid
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.make_solver import make_solver
from groundswell.solvers.cavity.setup import prepare as prepare_cavity
from groundswell.solvers.cavity.tiles import Tile
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC
from groundswell.solvers.dgwave.kernel_shapes import KernelVariant, kernel_shape, mortar_shape
from groundswell.solvers.dgwave.kernel_source import kernel_source
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.ultrasound.fields import Fields
from groundswell.solvers.ultrasound.fused import FusedStep
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.point_source import Injection, PointSource
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.window import Window


class SourceCollector(CpuBackend):
    """A backend that keeps the sources that it is asked to compile."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[Source] = []

    def compile(self, source: Source) -> Any:
        self.sources.append(source)
        return CollectedModule(source)

    def build_all(self, sources: Any) -> None: ...


class CollectedModule:
    """Kernels that do nothing, but whose launches need the arguments that the source declares."""

    def __init__(self, source: Source) -> None:
        self._text, self._names = source.text(), ParameterNames(source)

    def launch(self, name: str, extent: Any, /, *arguments: Any, **named: Any) -> Any:
        given = self._names.in_order(name, arguments, named)
        parameters = signature(self._text, name)
        assert parameters is not None, f"the parameters of {name} are unclear"
        for argument, parameter in zip(given, parameters, strict=True):
            assert isinstance(argument, np.ndarray) == bool(parameter.access), parameter
        return lambda: None


def solver_sources(
    precision: str,
    sides: str,
    top: str,
    q: bool,
    plasticity: dict[str, Any] | None = None,
    **storage: str,
) -> list[Source]:
    """Everything that one variant of the earthquake solver compiles.

    Args:
        plasticity: the section of rock that yields.
        storage: `memory` and `materials` of `[run]`.
    """
    matter = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0} | ({"qp": 155.9, "qs": 69.3} if q else {})
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": [4100.0, 3700.0, 2900.0], "spacing": 100.0},
        medium={"kind": "homogeneous", **matter},
        attenuation={"model": "constant" if q else "none"},
        boundary={"sides": sides, "top": top, "width": 10},
        source=[
            {
                "kind": "explosion",
                "moment": 1e16,
                **{"x": 1000.0, "y": 1000.0, "depth": 1000.0},
                "time_function": {"kind": "gaussian", "sigma": 0.1},
            }
        ],
        run={"precision": precision, **storage},
        plasticity=plasticity,
    )
    backend = SourceCollector()
    Earthquake(prepare(case), backend)
    return backend.sources


def cavity_sources(
    precision: str,
    local: bool,
    unsteady: bool = False,
    heat: bool = False,
    stretching: dict[str, float] | None = None,
    solids: Sequence[Any] = (),
) -> list[Source]:
    """Everything that a large cavity compiles, with the tile that a GPU of 132 processors has.

    Args:
        unsteady: in time.
        heat: with walls that have a heat flux and a heat transfer coefficient, and move.
        stretching: of the grid.
    """
    in_time: dict[str, Any] = {"duration": 1.0, "step": 0.1} if unsteady else {}
    walls = {
        "south": {"kind": "flux", "flux": 0.3},
        "north": {"kind": "robin", "h": 2.0, "ambient": "0.3 * x * z"},
        "top": {"kind": "fixed", "temperature": "x", "velocity": [0.2, 0.1, 0.0]},
    }
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e5},
        grid={"points": [150, 40, 40], "stretching": stretching or {}},
        walls=walls if heat else {},
        solid=solids,
        time={"local": local} | in_time,
        run={"precision": precision},
    )
    backend = SourceCollector()
    make_solver(prepare_cavity(case), backend)
    tile = Tile.of((512, 512, 512), 132)
    return [replace(s, parameters={**s.parameters, **tile.parameters()}) for s in backend.sources]


def ultrasound_sources(
    dtype: str, *, heterogeneous: bool, in_classes: bool = False
) -> list[Source]:
    """What the k-space scheme compiles for a homogeneous lossless or the most general medium."""
    shape = (8, 12, 16)
    values = [np.full(shape, value) for value in (1500.0, 1000.0, 1e-9)]
    medium = AcousticMedium(1500.0, 1000.0)
    if heterogeneous:
        medium = AcousticMedium(*values, power=1.5, nonlinearity=np.full(shape, 6.0))
    grid = Grid(shape[::-1], (1e-3,) * 3)
    backend = SourceCollector()
    medium = replace(medium, in_classes=in_classes)
    Propagation(backend, SpectralOperators(grid, 1e-7, 1500.0), medium, dtype)
    return backend.sources


def dgwave_source(
    dtype: str,
    degree: int,
    *,
    elastic: bool,
    upwind: float,
    file: str = "advance.h",
    mechanisms: int = 0,
    curved: bool = False,
    matched: bool = False,
    nodal: bool = False,
    mortars: bool = False,
) -> Source:
    """A stage of DG waves with sources and damping, in the shape that an H100 has.

    Args:
        file: "mortars.h" for the kernels of faces with finer neighbours.
        curved: whether elements are not bricks.
        matched: whether there are matched layers.
        nodal: whether the material varies inside elements.
        mortars: whether faces may have finer neighbours.
    """
    equations, size = ELASTIC if elastic else ACOUSTIC, np.dtype(dtype).itemsize
    h100: Any = SimpleNamespace(on_host=False, shared_bytes_per_block=227 * 1024)
    mortars = mortars or file == "mortars.h"
    whole = mortars or file == "fault.h" or curved or nodal or upwind != 1
    jump = equations.jump(whole=whole)
    problem: Any = SimpleNamespace(
        degree=degree,
        dtype=dtype,
        equations=equations,
        has_mortars=mortars,
        has_whole_jumps=whole,
        is_curved=curved,
        is_nodal=nodal,
        has_faults=file == "fault.h",
        terms=SimpleNamespace(has_sources=True, has_damping=True),
        mechanisms=mechanisms,
        layers=matched or None,
    )
    columns = equations.columns if curved else 0
    variant = KernelVariant(degree, len(equations.fields), jump, size, columns, nodal)
    shape = mortar_shape(variant) if file == "mortars.h" else kernel_shape(h100, variant)
    of_points = file in ("fault.h", "yielding.h")
    return kernel_source(file, problem, None if of_points else shape, absorbing=not of_points)


def fault_sources(dtype: str, *, curved: bool) -> list[Source]:
    """The flux at faults, for each law of friction."""
    source = dgwave_source(dtype, 4, elastic=True, upwind=1.0, file="fault.h", curved=curved)
    laws = [{**source.constants, "FRICTION": law} for law in (1, 2, 3, 4)]
    return [replace(source, constants=constants) for constants in laws]


def yielding_sources(dtype: str, degree: int, *, curved: bool, nodal: bool) -> list[Source]:
    """The kernel of yielding rock of DG waves, with and without initial shear stress."""
    options: dict[str, Any] = {"curved": curved, "nodal": nodal}
    source = dgwave_source(dtype, degree, elastic=True, upwind=1.0, file="yielding.h", **options)
    constants = [{**source.constants, "SHEARED": sheared} for sheared in (False, True)]
    return [replace(source, constants=each) for each in constants]


def fused_sources(dtype: str, kind: str) -> list[Source]:
    """What the fused step compiles for a "lossless" medium, or for an absorbing one.

    Of the latter, there are kinds with "sources", with those of few "terms", and with "overlaps"
    along z, or along "all" axes; those with "lossless classes" and "classes" store a table.
    """
    shape, backend = (64, 48, 80), SourceCollector()
    values = [np.full(shape, value) for value in (1500.0, 1000.0, 1e-9)]
    medium = AcousticMedium(*values[:2])
    if "lossless" not in kind:
        medium = AcousticMedium(*values, power=1.5, nonlinearity=np.full(shape, 6.0))
    medium = replace(medium, in_classes="classes" in kind)
    signals = np.eye(9)[:, : 3 if kind == "terms" else 9]
    points = np.arange(signals.shape[1])
    sources = [PointSource(name, points, signals) for name in ("p", "ux", "uz")]
    fields = Fields(*[np.zeros(shape, dtype)], *[[np.zeros(shape, dtype)] * 3] * 2)
    overlap = {"overlaps": (0, 0, 8), "all": (8, 8, 8)}.get(kind, (0, 0, 0))
    x, y, z = (n - 2 * o for n, o in zip(shape[::-1], overlap, strict=True))
    window = Window((x, y, z), (0, 0, 0), (x, y, z), overlap)
    operators = SpectralOperators(Grid(shape[::-1], (1e-3,) * 3), 1e-7, 1500.0, window=window)
    sources = sources if kind in ("sources", "terms") else []
    FusedStep(backend, operators, medium, fields, sources, Injection(backend, dtype))
    return backend.sources[1:]  # the first is that of the injection


def aligned_zeros(shape: tuple[int, ...], dtype: str) -> Any:
    """An array that begins where a sector of a GPU's memory would."""
    size = prod(shape) * np.dtype(dtype).itemsize
    found = np.zeros(size + 32, np.uint8)
    return found[-found.ctypes.data % 32 :][:size].view(dtype).reshape(shape)


def assembly_sources(dtype: str) -> list[Source]:
    """What sums of rows into other places, into their own, and in tiles compile."""
    backend = SourceCollector()
    array, rows = (
        Operand(aligned_zeros((8,), dtype)),
        SparseRows(2, np.array([0, 2, 4]), np.arange(4)),
    )
    for target in (rows, SparseRows.contiguous(0, 2)):
        reduce_rows(backend, "sum", (array, rows), (array, target))
    backend.on_host = False
    with patch("groundswell.exchange.gather_scatter.tiles.MIN_INDICES", 0):
        reduce_in_place(backend, "sum", array, rows, SparseRows.contiguous(0, 0))
    return backend.sources
