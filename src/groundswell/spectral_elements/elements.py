"""A rank's elements on a device, and launches in which some do their part of the operator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.backends import Array, Backend, Blocks, Constant, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Numbers
from groundswell.spectral_elements.geometry import (
    Edges,
    Geometry,
    require_upright,
)
from groundswell.spectral_elements.kernel_variants import Way, way_of
from groundswell.spectral_elements.metric_layout import Runs
from groundswell.spectral_elements.roofline import stored_factors
from groundswell.spectral_elements.space import Space

KERNELS = Path(__file__).with_name("kernels")
USUAL: dict[str, Constant] = {"SCALED": False, "COMPONENTS": 1}  # unless somebody asks for more
USUAL_POWER = 20  # of two: edges from 1 um to 1,000 km, m
# By what is kept of an element's shape, from most to least; numbers as in kernels/element.h.
METRICS = {"stored": 0, "straight": 2, "affine": 1}


class Elements:
    """Those of one rank.

    Args:
        screening: lambda, 1/m^2.
        dtype: "float32" or "float64".
        metric: "stored" for each node; or worked out each time, of elements with straight edges
            ("straight") or of parallelepipeds ("affine"). By default what moves least, but on CPUs
            nothing is worked out that takes longer than to read it.
        components: of the vectors that they are for.
        way: how a GPU's threads share them; by default the usual one.

    Raises:
        InputError: elements that are inside out, or not of the kind that `metric` says.
    """

    def __init__(
        self,
        backend: Backend,
        space: Space,
        screening: float,
        dtype: DTypeLike,
        *,
        metric: str | None = None,
        components: int = 1,
        way: Way | None = None,
    ) -> None:
        self._backend, self.space, self.screening = backend, space, float(screening)
        self.dtype = str(np.dtype(dtype))
        self.metric = self._chosen(metric)
        kind = (self.dtype, space.degree, self.metric, self.screening)
        usual = way or way_of(*kind, components=components, on_host=backend.on_host)
        self.way = usual.within(backend.block_memory, space.degree, *self._of_node)
        if space.mesh.order == 1:
            require_upright(space.elements[~(self._edges.determinants(space.degree) > 0)])
        self._places = backend.to_device(space.places.astype("i4"))
        self._shape = self._shapes()

    @cached_property
    def geometry(self) -> Geometry:
        """Factors and mass at the nodes, on the host."""
        return Geometry.of(self.space.mesh, self.space.degree, self.space.elements)

    def keep_mass(self) -> Floats:
        """The mass alone, (elements, (N + 1)^3): the factors take six times as much of the host."""
        mass = self.geometry.mass
        del self.geometry
        return mass

    @cached_property
    def _edges(self) -> Edges:
        return Edges.of(self.space.mesh, self.space.elements)

    @cached_property
    def _unit(self) -> float:
        """Of length, m, so that single precision has room for what becomes of straight edges."""
        if self.space.mesh.order > 1 or not len(self.space.elements):
            return 1.0
        power = int(np.frexp(np.abs(self._edges.terms[:, :AXES]).max())[1])
        return 2.0**power if abs(power) > USUAL_POWER else 1.0  # each one has kernels of its own

    def launches(
        self, some: Numbers, x: Array, y: Array, energies: Array, scale: Array | None = None
    ) -> list[Launch]:
        """What takes assembled x to some elements' part of local y, (elements, (N + 1)^3).

        Both may have several components: x (components, values), y (components, nodes).

        Args:
            some: elements, counted from 0 on this rank.
            energies: get x times that, in as many parts as `blocks` says.
            scale: assembled factors for x, to be used before all else.
        """
        if not len(some):
            return []
        components, x_pitch, y_pitch = pitches(x, y)
        sharing = self.way.constants(self.space.degree)
        choice = {"SCALED": scale is not None, "COMPONENTS": components, **sharing}
        module = self._backend.compile(self._source("operator.h", choice))
        degree = self.space.degree
        sizes = (self.way.threads(degree), self.way.shared(degree, *self._of_node))
        extent = Blocks(self.blocks(some), *sizes)
        numbers = self._backend.to_device(some.astype("i4"))
        scale = x if scale is None else scale
        given = (x, x_pitch, scale, self._places, self._shape, y, y_pitch)
        return [module.launch("apply_elements", extent, *given, numbers, len(some), energies)]

    @property
    def _of_node(self) -> tuple[int, int]:
        """Bytes of a value, and factors of the metric that come in rings."""
        factors = stored_factors(self.metric, self.screening) * self._backend.bulk_copies
        return np.dtype(self.dtype).itemsize, factors

    def blocks(self, some: Numbers) -> int:
        """Of a launch for so many elements."""
        return -(-len(some) // self.way.elements)

    def _chosen(self, metric: str | None) -> str:
        simple = self.space.mesh.order == 1
        kinds = ["stored", *["straight"] * simple]
        if simple and self._edges.affine.all():
            kinds.append("affine")
        if metric is not None and metric not in kinds:
            raise InputError(
                f"metric = {metric!r} of elements that are not so; allowed: {', '.join(kinds)}"
            )
        # On a CPU what a trilinear map wants to be worked out takes longer than to read it.
        usual = "stored" if self._backend.on_host and kinds[-1] == "straight" else kinds[-1]
        return metric or usual

    def _shapes(self) -> Array:
        """What kernels are told of shapes, see kernels/element.h."""
        if self.metric == "affine":
            return self._device(self._edges.metric(self.screening))
        if self.metric == "straight":
            return self._device(self._edges.terms / self._unit)
        if self.space.mesh.order == 1:
            return self._tabulated()
        parts = [self.geometry.factors, self.screening * self.geometry.mass[:, None]]
        metric = np.concatenate(parts[: 1 + bool(self.screening)], axis=1)
        return self._device(self._runs.lay(metric))

    def _tabulated(self) -> Array:
        """The metric at nodes of elements with straight edges, worked out on the device."""
        nodes, runs = self.space.places.size, self._runs
        stored = self._backend.zeros((nodes // runs.nodes * runs.pitch,), self.dtype)
        straight = {"GEOMETRY": METRICS["straight"]}
        module = self._backend.compile(self._source("tabulate.h", straight))
        arguments = (self._device(self._edges.terms / self._unit), stored, nodes)
        module.launch("tabulate_metric", Items(nodes), *arguments)()
        return stored

    @property
    def _runs(self) -> Runs:
        given = (self.dtype, self.space.degree, self.screening)
        return stored_runs(*given, on_host=self._backend.on_host)

    def _device(self, values: Floats) -> Array:
        return self._backend.to_device(np.ascontiguousarray(values, self.dtype))

    def _source(self, name: str, chosen: Mapping[str, Constant] = USUAL) -> Source:
        choice = {**USUAL, "GEOMETRY": METRICS[self.metric], **chosen}
        given = (self.dtype, self.space.degree, self.screening)
        constants = element_constants(*given, unit=self._unit, on_host=self._backend.on_host)
        return Source(KERNELS / name, {**constants, **choice})


def multiply(backend: Backend, x: Array, factors: Array, y: Array, count: int) -> list[Launch]:
    """What makes y of the first values of x times factors; x and y may be the same."""
    module = backend.compile(vectors_source(x.dtype))
    launch = module.launch("multiply_values", Items(count), x, factors, y, count)
    return [launch] if count else []


def vectors_source(dtype: DTypeLike) -> Source:
    """The kernel for vectors of a type."""
    double = precision(dtype)
    return Source(KERNELS / "vectors.h", double)


def stored_runs(dtype: str, degree: int, screening: float, *, on_host: bool) -> Runs:
    """Those of a stored metric."""
    factors = stored_factors("stored", screening)
    return Runs.of(degree, np.dtype(dtype).itemsize, factors, on_host=on_host)


def element_constants(
    dtype: str, degree: int, screening: float, *, unit: float = 1.0, on_host: bool
) -> dict[str, Constant]:
    """What kernels/element.h wants to know, but for USUAL and GEOMETRY.

    Args:
        unit: of length, m, in which kernels are told of straight edges.
    """
    points = gll(degree)
    forth, back = points.derivative, points.derivative[:, ::-1]
    half = (degree + 1) // 2
    upper = degree + 1 - half
    of_odd, of_even = (forth - back)[:upper, :half] / 2, (forth + back)[:half, :upper] / 2
    tables = {
        "DERIVATIVES": forth,
        "DERIVATIVES_TRANSPOSED": forth.T,
        "DERIVATIVES_OF_ODD": of_odd,
        "DERIVATIVES_OF_EVEN": of_even,
        "POINTS": points.points,
        "WEIGHTS": points.weights,
    }
    return {
        **precision(dtype),
        "NODES": degree + 1,
        **stored_runs(dtype, degree, screening, on_host=on_host).constants,
        "LAMBDA": screening * unit**2,
        "UNIT": float(unit),
        **{name: braced(table) for name, table in tables.items()},
    }


def pitches(*arrays: Array) -> tuple[int, ...]:
    """Components, and values from one to the next of each array, (values,) or (components, ..)."""
    return 1 if arrays[0].ndim == 1 else len(arrays[0]), *(int(a.shape[-1]) for a in arrays)


def braced(table: ArrayLike) -> str:
    """An array as C++ writes it."""
    numbers = np.asarray(table, float).tolist()
    return repr(numbers).replace("[", "{").replace("]", "}")
