"""The screened Poisson operator on a rank's elements: geometry on the device, and launches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Blocks, Constant, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES, Floats
from groundswell.solvers.poisson.geometric_factors import GeometricFactors, affine_metric
from groundswell.solvers.poisson.kernel_variants import OperatorVariant, choose_variant
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.element_kernels import reference_element_constants
from groundswell.spectral_elements.geometry import TrilinearMaps, require_positive
from groundswell.spectral_elements.metric_layout import MetricLayout
from groundswell.spectral_elements.space import FunctionSpace

KERNELS = Path(__file__).with_name("kernels")
DEFAULTS: dict[str, Constant] = {"SCALED": False, "COMPONENTS": 1}
SCALED_ABOVE = 20  # powers of two: edges from 1 um to 1,000 km are not rescaled
# What is stored of an element's geometry, from most to least; numbers as in kernels/metric.h.
METRICS = {"stored": 0, "straight": 2, "affine": 1}


class ElementOperator:
    """Applies the operator to the elements of a rank, without exchange.

    Args:
        screening: lambda, 1/m^2.
        dtype: "float32" or "float64".
        metric: "stored" at each node, or computed on the fly for elements with straight edges
            ("straight") or parallelepipeds ("affine"). The default moves the least data, but a CPU
            reads the metric where computing it takes longer.
        variant: of the kernel; by default the fastest known.

    Raises:
        InputError: inverted elements, or a metric that does not apply to the elements.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        screening: float,
        dtype: DTypeLike,
        *,
        metric: str | None = None,
        variant: OperatorVariant | None = None,
    ) -> None:
        self._backend, self.space, self.screening = backend, space, float(screening)
        self.dtype = str(np.dtype(dtype))
        self.metric = self._choose_metric(metric)
        self.variant = self._fit(variant or self._choose_variant())
        if space.mesh.order == 1:
            require_positive(self._maps.least_determinants(space.degree), space.elements)
        self._dofs = space.dofs_on(backend)
        self._geometry = self._store_geometry()

    def launches(
        self,
        chosen: Integers,
        x: DeviceArray,
        y: DeviceArray,
        energies: DeviceArray,
        scale: DeviceArray | None = None,
    ) -> list[Launch]:
        """Launches that apply the operator to some elements.

        Args:
            chosen: local numbers of the elements.
            x: assembled values, (values,) or (components, values).
            y: the elements' results, (nodes,) or (components, nodes).
            energies: receive x . y, one number a block, see `blocks`.
            scale: assembled factors, by which x is multiplied first.
        """
        if not len(chosen):
            return []
        components, x_pitch, y_pitch = pitches(x, y)
        degree = self.space.degree
        choice = {"SCALED": scale is not None, "COMPONENTS": components}
        choice |= self.variant.constants(degree)
        module = self._backend.compile(self._source("apply_elements.h", choice))
        shared = self.variant.shared_bytes(degree, *self._ring_values)
        extent = Blocks(self.blocks(chosen), self.variant.threads(degree), shared)
        numbers = self._backend.to_device(chosen.astype("i4"))
        launch = module.launch(
            "apply_elements",
            extent,
            x=x,
            x_pitch=x_pitch,
            scale=x if scale is None else scale,
            dofs=self._dofs,
            geometry=self._geometry,
            y=y,
            y_pitch=y_pitch,
            elements=numbers,
            count=len(chosen),
            energies=energies,
        )
        return [launch]

    def blocks(self, chosen: Integers) -> int:
        """Number of blocks of a launch for these elements."""
        return -(-len(chosen) // self.variant.elements)

    # --- choices ----------------------------------------------------------------------------------

    @property
    def _maps(self) -> TrilinearMaps:
        return self.space.rank_elements.maps

    @cached_property
    def _unit(self) -> float:
        """A unit of length, m, that keeps products of tangents in the range of single precision."""
        if self.space.mesh.order > 1 or not len(self.space.elements):
            return 1.0
        power = int(np.frexp(np.abs(self._maps.coefficients[:, :AXES]).max())[1])
        return 2.0**power if abs(power) > SCALED_ABOVE else 1.0  # each unit needs its own kernels

    def _choose_metric(self, requested: str | None) -> str:
        is_straight = self.space.mesh.order == 1
        allowed = ["stored", *["straight"] * is_straight]
        if is_straight and self._maps.affine.all():
            allowed.append("affine")
        if requested is not None and requested not in allowed:
            raise InputError(
                f"metric = {requested!r} does not apply to these elements; "
                f"allowed: {', '.join(allowed)}"
            )
        # A CPU reads a stored metric faster than it computes that of a trilinear map.
        reads = self._backend.on_host and allowed[-1] == "straight"
        return requested or ("stored" if reads else allowed[-1])

    def _choose_variant(self) -> OperatorVariant:
        kind = (self.dtype, self.space.degree, self.metric, self.screening)
        return choose_variant(*kind, on_host=self._backend.on_host)

    def _fit(self, variant: OperatorVariant) -> OperatorVariant:
        room = self._backend.shared_bytes_per_block
        return variant.within(room, self.space.degree, *self._ring_values)

    @property
    def _ring_values(self) -> tuple[int, int]:
        """Bytes of a value, and factors per node that pass through the ring."""
        factors = stored_factors(self.metric, self.screening) * self._backend.has_bulk_copy
        return np.dtype(self.dtype).itemsize, factors

    # --- geometry on the device -------------------------------------------------------------------

    def _store_geometry(self) -> DeviceArray:
        """What kernels need to know of the geometry, see kernels/metric.h."""
        if self.metric == "affine":
            return self._to_device(affine_metric(self._maps, self.screening))
        if self.metric == "straight":
            return self._to_device(self._maps.coefficients / self._unit)
        if self.space.mesh.order == 1:
            return self._tabulate()
        space = self.space
        geometry = GeometricFactors.of(space.mesh, space.degree, space.elements)
        parts = [geometry.factors, self.screening * geometry.mass[:, None]]
        metric = np.concatenate(parts[: 1 + bool(self.screening)], axis=1)
        return self._to_device(self._layout.arrange(metric))

    def _tabulate(self) -> DeviceArray:
        """The metric of elements with straight edges, computed on the device."""
        nodes, layout = self.space.dofs.size, self._layout
        stored = self._backend.zeros((nodes // layout.nodes * layout.pitch,), self.dtype)
        straight = {"GEOMETRY": METRICS["straight"]}
        module = self._backend.compile(self._source("tabulate_metric.h", straight))
        arguments = (self._to_device(self._maps.coefficients / self._unit), stored, nodes)
        module.launch("tabulate_metric", Items(nodes), *arguments)()
        return stored

    @property
    def _layout(self) -> MetricLayout:
        on_host = self._backend.on_host
        return stored_layout(self.dtype, self.space.degree, self.screening, on_host=on_host)

    def _to_device(self, values: Floats) -> DeviceArray:
        return self._backend.to_device(np.ascontiguousarray(values, self.dtype))

    def _source(self, name: str, chosen: Mapping[str, Constant]) -> Source:
        constants = element_constants(
            *(self.dtype, self.space.degree, self.screening),
            unit=self._unit,
            on_host=self._backend.on_host,
        )
        choice = {**DEFAULTS, "GEOMETRY": METRICS[self.metric], **chosen}
        return Source(KERNELS / name, {**constants, **choice})


def stored_layout(dtype: str, degree: int, screening: float, *, on_host: bool) -> MetricLayout:
    """The layout of a stored metric."""
    factors = stored_factors("stored", screening)
    return MetricLayout.of(degree, np.dtype(dtype).itemsize, factors, on_host=on_host)


def element_constants(
    dtype: str, degree: int, screening: float, *, unit: float = 1.0, on_host: bool
) -> dict[str, Constant]:
    """The constants of kernels/metric.h, without DEFAULTS and GEOMETRY.

    Args:
        unit: of length, m, in which kernels have the coefficients of trilinear maps.
    """
    return {
        **precision(dtype),
        **reference_element_constants(degree),
        **stored_layout(dtype, degree, screening, on_host=on_host).constants,
        "LAMBDA": screening * unit**2,
        "UNIT": float(unit),
    }


def operator_source(
    dtype: DTypeLike,
    degree: int,
    screening: float,
    metric: str = "stored",
    variant: OperatorVariant | None = None,
    components: int = 1,
) -> Source:
    """A GPU's kernel for a type and degree, in a variant or the fastest one."""
    name = str(np.dtype(dtype))
    constants = element_constants(name, degree, screening, on_host=False)
    fastest = choose_variant(name, degree, metric, screening, components=components)
    choice = {"GEOMETRY": METRICS[metric], "COMPONENTS": components}
    sharing = (variant or fastest).constants(degree)
    return Source(KERNELS / "apply_elements.h", {**constants, **DEFAULTS, **choice, **sharing})


def pitches(*arrays: DeviceArray) -> tuple[int, ...]:
    """Number of components, then the values per component of each array."""
    return 1 if arrays[0].ndim == 1 else len(arrays[0]), *(int(a.shape[-1]) for a in arrays)
