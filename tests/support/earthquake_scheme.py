"""The earthquake scheme in NumPy, float64, from its formulas: the reference of the kernels.

Written from docs/methods/earthquake.md and docs/conventions.md alone. A field knows along which
axes its values sit on faces; differences, averages and layers follow from that. Padded arrays
(nz + 4, ny + 4, nx + 4) have two ghost layers on each side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arrays import Floats

Fields = dict[str, Floats]

AXES = "xyz"
GHOSTS = 2
ON_FACES = {
    **{"vx": "x", "vy": "y", "vz": "z"},
    **{"sxx": "", "syy": "", "szz": "", "sxy": "xy", "sxz": "xz", "syz": "yz"},
}
SHEARS = ("xy", "xz", "yz")


def shifted(f: Floats, **steps: int) -> Floats:
    """The interior of a padded array, seen from `steps` cells further along x, y, z."""
    offsets = (steps.get(axis, 0) for axis in reversed(AXES))
    return f[
        tuple(slice(GHOSTS + n, s - GHOSTS + n) for n, s in zip(offsets, f.shape, strict=True))
    ]


def stress_name(a: str, b: str) -> str:
    return "s" + "".join(sorted(a + b))


@dataclass(frozen=True)
class Layer:
    """The matched layers along one axis, of `before` and `after` cells at its ends.

    `spacing` in m, the fastest wave's `speed` in m/s; `shift` at the inner edge, which falls to
    zero, and `uniform_shift` in 1/s. `factor` multiplies the damping.
    """

    before: int
    after: int
    spacing: float
    speed: float
    shift: float
    uniform_shift: float
    factor: float = 1.0

    def depth(self, cells: int, on_face: bool) -> Floats:
        """Depth into the layer over its width: 0 inside the region, 1 at the outer edge."""
        place = np.arange(cells) + (0.0 if on_face else 0.5)
        low = (self.before - place) / max(self.before, 1)
        high = (place - (cells - self.after)) / max(self.after, 1)
        return np.clip(np.maximum(low, high), 0, None)

    def damping(self, depth: Floats) -> Floats:
        """A cubic profile; a cell takes 0.6 decades times the factor off a reflection."""
        decades = 0.6 * self.factor
        return 2 * decades * np.log(10) * self.speed / self.spacing * depth**3

    def stretch(
        self, derivative: Floats, memory: Floats, axis: str, on_face: bool, dt: float
    ) -> tuple[Floats, Floats]:
        """D - A, and the new A, by the trapezoidal rule for A' = d D - (alpha + d) A."""
        dim = 2 - AXES.index(axis)
        cells = derivative.shape[dim]
        shape = [cells if n == dim else 1 for n in range(3)]
        x, n = self.depth(cells, on_face).reshape(shape), np.arange(cells).reshape(shape)
        d = self.damping(x)
        rate = self.shift * (1 - x) + self.uniform_shift + d
        new = ((1 - dt / 2 * rate) * memory + dt * d * derivative) / (1 + dt / 2 * rate)
        stretched = derivative - (memory + new) / 2
        inside = (n < self.before) | (n >= cells - self.after)
        return np.where(inside, stretched, derivative), np.where(inside, new, memory)


@dataclass(frozen=True)
class Relaxing:
    """What memory variables need: relaxation times and weights by parity, 1/Qp and 1/Qs."""

    tau: Floats  # (8,)
    coefficients: Floats  # (8, 2)
    inverse_qp: Floats  # padded
    inverse_qs: Floats

    def by_cell(self, values: Floats, shape: tuple[int, ...]) -> Floats:
        k, j, i = np.indices(shape) % 2
        return values[i + 2 * j + 4 * k]

    def weight(self, inverse_q: Floats) -> Floats:
        linear, quadratic = (self.by_cell(c, inverse_q.shape) for c in self.coefficients.T)
        return linear * inverse_q + quadratic * inverse_q**2

    def move(self, r: Floats, drive: Floats, dt: float) -> Floats:
        """tau zeta' + zeta = -drive by the trapezoidal rule, for r = zeta / 2."""
        tau = self.by_cell(self.tau, r.shape)
        return ((tau / dt - 0.5) * r - drive / 2) / (tau / dt + 0.5)


@dataclass(frozen=True)
class Scheme:
    """One time step of the velocities, or of the stresses.

    Args:
        spacing, dt: m, s.
        layers: by axis.
        keep: (nz, ny, nx), what an updated value keeps of itself in sponges and soft ground.
        surface: whether z = 0 is a free surface.
        corrections: (nz, 4), by depth row: factors of the density at vz and of the compliance of
            sxz and syz, stiffness added along and across z.
    """

    spacing: Mapping[str, float]
    dt: float
    layers: Mapping[str, Layer]
    keep: Floats | float = 1.0
    surface: bool = True
    corrections: Floats | None = None

    def correction(self, column: int) -> Floats:
        """A column of the corrections, (nz, 1, 1)."""
        assert self.corrections is not None
        return self.corrections[:, column, None, None]

    def derivative(self, name: str, f: Floats, axis: str) -> Floats:
        """Fourth-order difference: on faces if the values sit between them, else between."""
        first = 0 if axis in ON_FACES[name] else -1
        far_low, low, high, far_high = (shifted(f, **{axis: first + n}) for n in (-1, 0, 1, 2))
        return (9 / 8 * (high - low) - (far_high - far_low) / 24) / self.spacing[axis]

    def absorbed(self, name: str, f: Floats, axis: str, memory: Mapping[str, Floats], row: int):
        """The derivative as the layers stretch it, and the memory variable's new value."""
        plain = self.derivative(name, f, axis)
        if axis not in self.layers:
            return plain, memory[axis][row]
        on_face = axis not in ON_FACES[name]
        return self.layers[axis].stretch(plain, memory[axis][row], axis, on_face, self.dt)

    def velocities(self, v: Fields, s: Fields, rho: Floats, memory: Mapping[str, Floats]) -> Any:
        """New velocities (interior) and layer memory; memory[axis] is (3, nz, ny, nx)."""
        new, kept = {}, {axis: np.empty_like(m) for axis, m in memory.items()}
        for row, c in enumerate(AXES):
            force = 0.0
            for axis in AXES:
                name = stress_name(c, axis)
                slope, kept[axis][row] = self.absorbed(name, s[name], axis, memory, row)
                force = force + slope
            density = (shifted(rho) + shifted(rho, **{c: -1})) / 2
            if c == "z":
                density = self.correction(0) * density
            new["v" + c] = self.keep * (shifted(v["v" + c]) + self.dt / density * force)
        return new, kept

    def stresses(
        self,
        s: Fields,
        r: Fields,
        v: Fields,
        lam: Floats,
        compliance: Floats,
        memory: Mapping[str, Floats],
        relaxing: Relaxing | None,
    ) -> Any:
        """New stresses, memory variables and layer memory (interiors)."""
        e: dict[str, Floats] = {}
        kept = {axis: np.empty_like(m) for axis, m in memory.items()}
        for row, c in enumerate(AXES):
            for axis in AXES:
                e[c + axis], kept[axis][row] = self.absorbed("v" + c, v["v" + c], axis, memory, row)
        rates = self._elastic(e, shifted(lam), compliance)
        new_r = {name: shifted(f) for name, f in r.items()}
        if relaxing:
            for name, drive in self._drives(e, rates, lam, compliance, relaxing).items():
                old = shifted(r["r" + name])
                new_r["r" + name] = relaxing.move(old, drive, self.dt)
                rates[name] = rates[name] + old + new_r["r" + name]
        new = {"s" + n: self.keep * (shifted(s["s" + n]) + self.dt * x) for n, x in rates.items()}
        if self.surface:
            new["sxz"][0] = new["syz"][0] = 0
        return new, new_r, kept

    def _elastic(self, e: Fields, lam: Floats, compliance: Floats) -> Fields:
        mu = 1 / shifted(compliance)
        spreading = e["xx"] + e["yy"] + e["zz"]
        normal = {c + c: lam * spreading + 2 * mu * e[c + c] for c in AXES}
        shear = {
            a + b: (e[a + b] + e[b + a]) / on_edges(compliance, a, b) for a, b in map(tuple, SHEARS)
        }
        for name in ("xz", "yz"):
            shear[name] = shear[name] / self.correction(1)
        normal["zz"] = normal["zz"] + self.correction(2) * e["zz"]
        for name in ("xx", "yy"):
            normal[name] = normal[name] + self.correction(3) * (e["xx"] + e["yy"])
        return normal | shear

    def _drives(
        self, e: Fields, rates: Fields, lam: Floats, compliance: Floats, relaxing: Relaxing
    ) -> Fields:
        """What each memory variable relaxes from: weight times unrelaxed stress rate."""
        mu = 1 / shifted(compliance)
        p, q = (relaxing.weight(shifted(f)) for f in (relaxing.inverse_qp, relaxing.inverse_qs))
        spreading = e["xx"] + e["yy"] + e["zz"]
        bulk = (shifted(lam) + 2 * mu) * p * spreading
        normal = {c + c: bulk - 2 * mu * q * (spreading - e[c + c]) for c in AXES}
        shear = {
            a + b: rates[a + b] * relaxing.weight(on_edges(relaxing.inverse_qs, a, b))
            for a, b in map(tuple, SHEARS)
        }
        return normal | shear


def on_edges(f: Floats, a: str, b: str) -> Floats:
    """Arithmetic mean of the four cells that meet at the edge normal to axes a and b.

    Of compliances: the inverse of the harmonic mean of moduli.
    """
    corners = [shifted(f, **{a: m, b: n}) for m in (0, -1) for n in (0, -1)]
    return sum(corners) / 4
