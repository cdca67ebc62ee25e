"""The operator on a rank's elements: geometry and coefficients on the device, and launches."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Integers, Reals
from groundswell.backends import Backend, Blocks, Constant, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.linear.operators import pitches
from groundswell.meshes.hexahedra import AXES
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_values import METRICS, ElementValues, allowed_metrics
from groundswell.solvers.poisson.geometric_factors import (
    GeometricFactors,
    affine_metric,
    integrate_sides,
)
from groundswell.solvers.poisson.kernel_variants import OperatorVariant, choose_variant
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.element_kernels import reference_element_constants
from groundswell.spectral_elements.geometry import TrilinearMaps, require_positive
from groundswell.spectral_elements.metric_layout import MetricLayout
from groundswell.spectral_elements.space import FunctionSpace

KERNELS = Path(__file__).with_name("kernels")
DEFAULTS: dict[str, Constant] = {"SCALED": False, "COMPONENTS": 1}
SCALED_ABOVE = 20  # powers of two: edges from 1 um to 1,000 km are not rescaled
SIDE_LANES = 256  # of a block, see kernels/apply_sides.h


class ElementOperator:
    """Applies the operator to the elements of a rank, without exchange.

    Args:
        coefficients: k, c and h on these elements, at the nodes of the space.
        dtype: "float32" or "float64".
        metric: "stored" at each node, or computed on the fly for elements with straight edges
            ("straight") or parallelepipeds ("affine"). The default moves the least data, but a CPU
            reads the metric where computing it takes longer. A tensor k is stored, unless elements
            are parallelepipeds with a constant k each.
        variant: of the kernel; by default the fastest known.

    Raises:
        InputError: inverted elements, or a metric that does not apply to the elements.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        coefficients: Coefficients,
        dtype: DTypeLike,
        *,
        metric: str | None = None,
        variant: OperatorVariant | None = None,
    ) -> None:
        self._backend, self.space, self._coefficients = backend, space, coefficients
        self.dtype = str(np.dtype(dtype))
        self.metric = self._choose_metric(metric)
        is_tabulated = self.metric == "stored" and self._is_tabulated
        kind = "straight" if is_tabulated else self.metric
        self._values = ElementValues.of(coefficients, len(space.elements), kind)
        self.screening = self._values.screening
        self.variant = self._fit(variant or self._choose_variant())
        if space.mesh.order == 1:
            require_positive(self._maps.least_determinants(space.degree), space.elements)
        self._dofs = space.dofs_on(backend)
        self._geometry = self._store_geometry()
        self._sides = integrate_sides(space.shapes, coefficients)

    def for_components(self, count: int) -> ElementOperator:
        """The same, on the same geometry, with the fastest kernel for so many components."""
        kind = (self.dtype, self.space.degree, self.metric, self.screening)
        host, several = self._backend.on_host, copy(self)
        several.variant = self._fit(choose_variant(*kind, components=count, on_host=host))
        return several

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
        blocks = self._element_blocks(chosen)
        extent = Blocks(blocks, self.variant.threads(degree), shared)
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
        return [launch, *self._apply_sides(chosen, x, y, energies[blocks:], scale)]

    def _apply_sides(
        self,
        chosen: Integers,
        x: DeviceArray,
        y: DeviceArray,
        energies: DeviceArray,
        scale: DeviceArray | None,
    ) -> list[Launch]:
        """Add what sides with heat transfer contribute to the elements' results."""
        nodes, factors = self._sides.nonzero(chosen)
        if not len(nodes):
            return []
        components, x_pitch, y_pitch = pitches(x, y)
        source = sides_source(self.dtype, SCALED=scale is not None, COMPONENTS=components)
        launch = self._backend.compile(source).launch(
            "apply_sides",
            Blocks(-(-len(nodes) // SIDE_LANES), SIDE_LANES),
            x=x,
            x_pitch=x_pitch,
            scale=x if scale is None else scale,
            dofs=self._dofs,
            factors=self._to_device(factors),
            y=y,
            y_pitch=y_pitch,
            nodes=self._backend.to_device(nodes.astype("i4")),
            count=len(nodes),
            energies=energies,
        )
        return [launch]

    def blocks(self, chosen: Integers) -> int:
        """Number of blocks of the launches for these elements."""
        nodes, _ = self._sides.nonzero(chosen)
        return self._element_blocks(chosen) + -(-len(nodes) // SIDE_LANES)

    def _element_blocks(self, chosen: Integers) -> int:
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
        straight = self.space.mesh.order == 1
        affine = straight and bool(self._maps.affine.all())
        allowed = allowed_metrics(self._coefficients, straight=straight, affine=affine)
        if requested is not None and requested not in allowed:
            raise InputError(
                f"metric = {requested!r} does not apply to these elements and coefficients; "
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

    @property
    def _is_tabulated(self) -> bool:
        """Whether a stored metric is computed on the device."""
        return self.space.mesh.order == 1 and not self._coefficients.is_tensor

    def _store_geometry(self) -> DeviceArray:
        """What kernels need to know of the geometry, see kernels/metric.h."""
        if self.metric == "affine":
            metric = affine_metric(self._maps, self._coefficients)
            return self._to_device(self._values.after(metric, self.dtype))
        if self.metric == "straight":
            return self._to_device(self._straight_geometry)
        return self._tabulate() if self._is_tabulated else self._store_factors()

    @property
    def _straight_geometry(self) -> Reals:
        return self._values.after(self._maps.coefficients / self._unit, self.dtype)

    def _store_factors(self) -> DeviceArray:
        """The metric of any elements with any coefficients, computed on the host."""
        space = self.space
        geometry = GeometricFactors.of(space.mesh, space.degree, space.elements, self._coefficients)
        parts = [geometry.factors]
        if self.screening:
            parts.append((geometry.screening * geometry.mass)[:, None])
        return self._to_device(self._layout.arrange(np.concatenate(parts, axis=1)))

    def _tabulate(self) -> DeviceArray:
        """The metric of elements with straight edges, computed on the device."""
        nodes, layout = self.space.dofs.size, self._layout
        stored = self._backend.zeros((nodes // layout.nodes * layout.pitch,), self.dtype)
        straight = {"GEOMETRY": METRICS["straight"]}
        module = self._backend.compile(self._source("tabulate_metric.h", straight))
        arguments = (self._to_device(self._straight_geometry), stored, nodes)
        module.launch("tabulate_metric", Items(nodes), *arguments)()
        return stored

    @property
    def _layout(self) -> MetricLayout:
        on_host = self._backend.on_host
        return stored_layout(self.dtype, self.space.degree, self.screening, on_host=on_host)

    def _to_device(self, values: Reals) -> DeviceArray:
        return self._backend.to_device(np.ascontiguousarray(values, self.dtype))

    def _source(self, name: str, chosen: Mapping[str, Constant]) -> Source:
        constants = element_constants(
            *(self.dtype, self.space.degree, self.screening),
            unit=self._unit,
            conductivity=self._values.conductivity,
            on_host=self._backend.on_host,
        )
        choice = {**DEFAULTS, "GEOMETRY": METRICS[self.metric], **self._values.counts, **chosen}
        return Source(KERNELS / name, {**constants, **choice})


def stored_layout(dtype: str, degree: int, screening: float, *, on_host: bool) -> MetricLayout:
    """The layout of a stored metric."""
    factors = stored_factors("stored", screening)
    return MetricLayout.of(degree, np.dtype(dtype).itemsize, factors, on_host=on_host)


def element_constants(
    dtype: str,
    degree: int,
    screening: float,
    *,
    unit: float = 1.0,
    conductivity: float = 1.0,
    on_host: bool,
) -> dict[str, Constant]:
    """The constants of kernels/metric.h, without DEFAULTS and GEOMETRY.

    Args:
        screening, conductivity: what c and k have in common.
        unit: of length, m, in which kernels have the coefficients of trilinear maps.
    """
    return {
        **precision(dtype),
        **reference_element_constants(degree),
        **stored_layout(dtype, degree, screening, on_host=on_host).constants,
        "LAMBDA": screening * unit**2 / conductivity,
        "UNIT": float(unit * conductivity),
        "K_VALUES": 0,
        "C_VALUES": 0,
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


def sides_source(dtype: str, **chosen: Constant) -> Source:
    """The kernel of sides with heat transfer for vectors of a type."""
    return Source(
        KERNELS / "apply_sides.h",
        {**precision(dtype), **DEFAULTS, "SIDE_LANES": SIDE_LANES, **chosen},
    )
