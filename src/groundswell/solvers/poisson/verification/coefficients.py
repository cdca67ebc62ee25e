"""Coefficients that vary or jump, tensors, and sides that exchange heat."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
from scipy.optimize import brentq

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Hexahedra, positions
from groundswell.solvers.poisson.coefficients import TENSOR
from groundswell.solvers.poisson.equation import Conductivity, Equation, Robin, zero
from groundswell.solvers.poisson.verification.degrees import decrease
from groundswell.solvers.poisson.verification.shapes import (
    bent,
    from_gmsh,
    gradient,
    largest_error,
    solution,
    whole_space,
)
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.given_fields import GivenValues
from groundswell.verify import Check

QUICK, FULL = (3, 6, 11), tuple(range(1, 14))
TOLERANCE = 1e-15

ARCH, ARCHES = 0.4, (2, 3)  # height, and powers of x
CURVED = (2, 3)  # orders of elements
JUMP = 1e6
LAYERS = (1.0, JUMP, 20.0)  # conductivities of a plate's layers
WITHIN = 1e-11
WITHIN_LAYERS = 1e-9  # rounding of u in a good conductor is a heat flow that is JUMP times as large


def screening(x: Floats, y: Floats, z: Floats) -> Floats:
    """A c that varies."""
    return np.asarray(1 + x * y)


def scalar(x: Floats, y: Floats, z: Floats) -> Floats:
    """A k that varies."""
    return np.asarray(1 + x**2 + np.sin(y) / 2)


def tensor(x: Floats, y: Floats, z: Floats) -> Floats:
    """A positive definite tensor whose entries vary, (..., 3, 3)."""
    one = np.ones(np.shape(x))
    xy, xz, yz = np.sin(x) / 4, z / 5, -y / 4
    rows = [[2 + x * y, xy, xz], [xy, 1 + x**2, yz], [xz, yz, np.exp(y)]]
    return np.stack([np.stack([each * one for each in row], axis=-1) for row in rows], axis=-2)


def _divergence(x: Floats, y: Floats, z: Floats) -> Floats:
    """The divergence of the columns of `tensor`, (..., 3)."""
    one = np.ones(np.shape(x))
    return np.stack([(y + 0.2) * one, np.cos(x) / 4, -0.25 * one], axis=-1)


def _second(x: Floats, y: Floats, z: Floats) -> Floats:
    """The second derivatives of the solution, (..., 3, 3)."""
    u, (along_x, along_y, along_z) = solution(x, y, z), np.moveaxis(gradient(x, y, z), -1, 0)
    xy = -3 * np.cos(2 * x + 0.3) * np.sin(1.5 * y) * np.exp(0.5 * z)
    rows = [
        [-4 * u, xy, along_x / 2],
        [xy, -2.25 * u, along_y / 2],
        [along_x / 2, along_y / 2, along_z / 2],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def source_of_tensor(x: Floats, y: Floats, z: Floats) -> Floats:
    """-div(k grad u) + c u with `tensor`."""
    at = (x, y, z)
    spread = np.einsum("...ab,...ab", tensor(*at), _second(*at))
    drift = np.einsum("...a,...a", _divergence(*at), gradient(*at))
    return np.asarray(screening(*at) * solution(*at) - spread - drift)


def source_of_scalar(x: Floats, y: Floats, z: Floats) -> Floats:
    """-div(k grad u) + c u with `scalar`."""
    at = (x, y, z)
    spread = scalar(*at) * np.einsum("...aa", _second(*at))
    drift = 2 * x * gradient(*at)[..., 0] + np.cos(y) / 2 * gradient(*at)[..., 1]
    return np.asarray(screening(*at) * solution(*at) - spread - drift)


def flux_of_tensor(x: Floats, y: Floats, z: Floats) -> Floats:
    """k grad u, (..., 3)."""
    return np.asarray(np.einsum("...ab,...b->...a", tensor(x, y, z), gradient(x, y, z)))


def flux_of_scalar(x: Floats, y: Floats, z: Floats) -> Floats:
    """k grad u, (..., 3)."""
    return np.asarray(scalar(x, y, z)[..., None] * gradient(x, y, z))


def entries_of_tensor() -> tuple[Function, ...]:
    """The six entries of `tensor` by position."""
    return tuple(lambda x, y, z, a=a, b=b: tensor(x, y, z)[..., a, b] for a, b in TENSOR)


KINDS: dict[str, tuple[Conductivity, Function, Function]] = {
    "k": (scalar, source_of_scalar, flux_of_scalar),
    "tensor k": (entries_of_tensor(), source_of_tensor, flux_of_tensor),
}


def smooth(backend: Backend, full: bool) -> Iterator[Check]:
    """A smooth solution with k and c that vary, on straight and on curved elements.

    The box exchanges heat on all sides, and the curved elements through their top, a parabola or a
    cubic; on those from Gmsh, u is prescribed.
    """
    for name, (k, source, flux) in KINDS.items():
        robin = {tag: _robin(flux, tag) for tag in range(1, 7)}
        on_box = Equation(source, screening, conductivity=k, robin=robin)
        on_curved = Equation(source, screening, {1: solution}, conductivity=k)
        yield from _errors(f"{name}, robin, box", Box((2, 2, 2)), on_box, backend, full)
        yield from _errors(f"{name}, Gmsh", from_gmsh(), on_curved, backend, full)
        for power in ARCHES:
            fixed, top = dict.fromkeys(range(1, 6), solution), {6: _robin_on_arch(flux, power)}
            on_arched = Equation(source, screening, fixed, conductivity=k, robin=top)
            title = f"{name}, robin, curved, order {power}"
            yield from _errors(title, _arch(power), on_arched, backend, full)


def nodal_values(backend: Backend, full: bool) -> Iterator[Check]:
    """The same with k and c as arrays of values at the nodes of curved elements."""
    mesh = _arch(3)

    def error(degree: int) -> float:
        at = np.moveaxis(positions(mesh, degree, np.arange(mesh.count)), -1, 0)
        k, c = (GivenValues(np.asarray(field(*at))) for field in (scalar, screening))
        fixed = dict.fromkeys(range(1, 7), solution)
        equation = Equation(source_of_scalar, c, fixed, conductivity=k)
        return _error(backend, mesh, degree, equation)

    yield from decrease("k and c at nodes, curved", {n: error(n) for n in _degrees(full)})


def _robin(flux: Function, tag: int) -> Robin:
    """Heat transfer through a side of a box that the solution fulfils."""
    axis, sign = (tag - 1) // 2, 1 if tag % 2 == 0 else -1
    return _robin_by(lambda x, y, z: sign * np.asarray(flux(x, y, z))[..., axis])


def _robin_on_arch(flux: Function, power: int) -> Robin:
    """The same for the top of `_arch`."""

    def outwards(x: Floats, y: Floats, z: Floats) -> Floats:
        slope = ARCH * power * x ** (power - 1)
        normal = np.stack([-slope, np.zeros_like(x), np.ones_like(x)], axis=-1)
        length = np.linalg.norm(normal, axis=-1)
        return np.asarray((normal * np.asarray(flux(x, y, z))).sum(axis=-1) / length)

    return _robin_by(outwards)


def _robin_by(outwards: Function) -> Robin:
    """Heat transfer where the solution has this k du/dn."""
    h = lambda x, y, z: 3 + x + y * z  # noqa: E731
    return Robin(h, lambda x, y, z: solution(x, y, z) + outwards(x, y, z) / h(x, y, z))


def _arch(power: int) -> Box:
    """The unit cube with a power of x as its top, which elements of this order follow exactly."""

    def lift(points: Floats) -> Floats:
        x, y, z = np.moveaxis(points, -1, 0)
        return np.stack([x, y, z * (1 + ARCH * x**power)], axis=-1)

    return Box((2, 2, 2), deform=lift, order=power)


def _errors(
    name: str, mesh: Hexahedra, equation: Equation, backend: Backend, full: bool
) -> list[Check]:
    return decrease(name, {n: _error(backend, mesh, n, equation) for n in _degrees(full)})


def _degrees(full: bool) -> tuple[int, ...]:
    return FULL if full else QUICK


def _error(
    backend: Backend,
    mesh: Hexahedra,
    degree: int,
    equation: Equation,
    exact: Function = solution,
) -> float:
    return largest_error(backend, whole_space(mesh, degree), equation, TOLERANCE, exact)


def order(backend: Backend, full: bool) -> Iterator[Check]:
    """Finer curved elements: the error falls with the power N + 1 of their size."""
    counts = (2, 4, 8) if full else (2, 4)
    fixed = dict.fromkeys(range(1, 7), solution)
    for bend, degree in product(CURVED, (2, 3)):
        meshes = [Box((n,) * 3, deform=bent, order=bend) for n in counts]
        for name, (k, source, _) in KINDS.items():
            equation = Equation(source, screening, fixed, conductivity=k)
            errors = [_error(backend, mesh, degree, equation) for mesh in meshes]
            rates = [np.log2(a / b) for a, b in pairwise(errors)]
            note = ", ".join(f"{error:.1e}" for error in errors)
            title = f"{name}, curved, order {bend}, N = {degree}: order"
            yield Check.at_least(title, min(rates), degree + 0.5, note=note)


def layered_plate(backend: Backend, full: bool) -> Iterator[Check]:
    """Layers whose conductivities differ a million times, between a fixed side and the air.

    The heat that passes is 1 over the sum of the resistances: of each layer, its thickness over k,
    and 1 / h. Exact are also the layers turned to other axes, and mirrored.
    """
    h = 7.0
    resistances = np.array([1 / (3 * k) for k in LAYERS])
    heat = 1 / (resistances.sum() + 1 / h)
    for axis in range(3):
        for mirrored in (False, True):
            plate = _Plate(axis, mirrored, heat, resistances)
            counts = np.ones(3, int)
            counts[axis] = 3
            fixed, air = 2 * axis + 1 + mirrored, 2 * axis + 2 - mirrored
            equation = Equation(
                fixed={fixed: lambda x, y, z: 1.0},
                robin={air: Robin(lambda x, y, z: h, zero)},
                conductivity=plate.conductivity,
            )
            box = Box((int(counts[0]), int(counts[1]), int(counts[2])))
            error = _error(backend, box, 3, equation, plate.exact)
            name = f"layers across {'xyz'[axis]}{', mirrored' * mirrored}: error"
            yield Check.at_most(name, error, WITHIN_LAYERS)


class _Plate:
    """The unit cube in three layers: k and the exact u by position."""

    def __init__(self, axis: int, mirrored: bool, heat: float, resistances: Floats) -> None:
        self._axis, self._mirrored = axis, mirrored
        self._u = 1 - heat * np.concatenate([[0], np.cumsum(resistances)])

    def _depth(self, at: tuple[Floats, ...]) -> Floats:
        place = at[self._axis]
        return 1 - place if self._mirrored else place

    def conductivity(self, *at: Floats) -> Floats:
        """k of the layer."""
        layer = np.floor(3 * self._depth(at)).astype(int).clip(0, 2)
        return np.asarray(LAYERS)[layer]

    def exact(self, *at: Floats) -> Floats:
        """u is linear in each layer."""
        return np.interp(self._depth(at), np.linspace(0, 1, 4), self._u)


def fin(backend: Backend, full: bool) -> Iterator[Check]:
    """A fin that loses heat through two faces, with the closed form of its first mode.

    u = cos(b y) cosh(b (L - x)) is 0 under Laplace's operator, insulated at the tip x = L, and
    loses h u at y = w and y = -w if k b tan(b w) = h (Carslaw & Jaeger 1959, Conduction of heat in
    solids, section 5.2).
    """
    length, w, k, h = 2.0, 0.4, 15.0, 25.0
    b = brentq(lambda b: k * b * np.tan(b * w) - h, 1e-6, (np.pi / 2 - 1e-6) / w)

    def exact(x: Floats, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.cos(b * y) * np.cosh(b * (length - x)) / np.cosh(b * length))

    air = Robin(lambda x, y, z: h, zero)
    equation = Equation(fixed={1: exact}, robin={3: air, 4: air}, conductivity=k)
    box = Box((4, 2, 1), (0.0, -w, 0.0), (length, w, 0.3))
    yield Check.at_most("fin: error", _error(backend, box, 10, equation, exact), WITHIN)
