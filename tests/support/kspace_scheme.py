"""The k-space pseudospectral scheme in NumPy: complex transforms, float64, formulas of the papers.

Tabei, Mast & Waag (2002), J. Acoust. Soc. Am. 111, 53-63; Treeby & Cox (2010), J. Acoust. Soc. Am.
127, 2741-2748; Treeby, Jaros, Rendell & Cox (2012), J. Acoust. Soc. Am. 131, 4324-4336.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groundswell.arrays import Floats


@dataclass
class KSpaceScheme:
    """Fields (nz, ny, nx) on a grid of spacing `d` (x, y, z); properties are numbers or arrays.

    `layers` are the widths of the layers (x, y, z) at both ends, `strength` their absorption.
    `tau`, `eta` and `power` describe the losses; `sources` are (field, points, signals, mode).
    """

    shape: tuple[int, int, int]
    d: tuple[float, float, float]
    dt: float
    c_ref: float
    speed: Any
    density: Any
    layers: tuple[int, int, int] = (0, 0, 0)
    strength: float = 2.0
    tau: Any = 0.0
    eta: Any = 0.0
    power: float = 2.0
    nonlinearity: Any = 0.0
    sources: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.axes = range(3 if self.shape[0] > 1 else 2)
        self.p = np.zeros(self.shape)
        self.u, self.rho = (np.zeros((len(self.axes), *self.shape)) for _ in range(2))
        self.density = np.broadcast_to(np.asarray(self.density, float), self.shape)
        self.done = 0
        waves = [
            2 * np.pi * np.fft.fftfreq(n, h) for n, h in zip(self.shape[::-1], self.d, strict=True)
        ]
        self.k = [
            k.reshape([-1 if dim == 2 - n else 1 for dim in range(3)]) for n, k in enumerate(waves)
        ]
        self.size = np.sqrt(sum(k**2 for k in self.k))
        self.kappa = np.sinc(self.c_ref * self.size * self.dt / 2 / np.pi)

    def spectral(self, values: Floats, factors: Any) -> Floats:
        """Multiply the spectrum by factors."""
        return np.fft.ifftn(factors * np.fft.fftn(values)).real

    def slope(self, values: Floats, axis: int, shift: int) -> Floats:
        k = self.k[axis]
        return self.spectral(values, 1j * k * np.exp(shift * 0.5j * k * self.d[axis]) * self.kappa)

    def layer(self, axis: int, half: float) -> Floats:
        """Factor of the layers at points (half = 0) or half a cell further (0.5)."""
        n, width = self.shape[2 - axis], self.layers[axis]
        factor = np.ones(n)
        for j in range(width):
            rate = self.strength * self.c_ref / self.d[axis] * self.dt / 2
            factor[j] = np.exp(-rate * ((width - j - half) / width) ** 4)
            factor[n - width + j] = np.exp(-rate * ((j + 1 + half) / width) ** 4)
        return factor.reshape([-1 if dim == 2 - axis else 1 for dim in range(3)])

    def staggered(self, axis: int) -> Floats:
        """Density half a cell further; after the last point comes the first."""
        dim = 2 - axis
        after = np.arange(1, self.density.shape[dim] + 1) % self.density.shape[dim]
        return (self.density + self.density.take(after, dim)) / 2

    def start(self, pressure: Floats) -> None:
        self.p = np.array(pressure, float)
        for axis in self.axes:
            self.rho[axis] = self.p / (len(self.axes) * np.square(self.speed))
            self.u[axis] = self.dt / (2 * self.staggered(axis)) * self.slope(self.p, axis, 1)

    def emit(self, kind: str) -> None:
        for name, points, signals, mode in self.sources:
            if name[0] != kind or self.done >= len(signals):
                continue
            targets = self.rho if kind == "p" else [self.u["xyz".index(name[1])]]
            for target in targets:
                flat = target.reshape(-1)
                if mode == "dirichlet":
                    flat[points] = signals[self.done]
                    continue
                emitted = np.zeros(self.shape)
                emitted.reshape(-1)[points] = signals[self.done]
                if mode == "additive":
                    correction = np.cos(self.c_ref * self.size * self.dt / 2)
                    emitted = self.spectral(emitted, correction)
                target += emitted

    def step(self) -> None:
        slopes = [self.slope(self.p, axis, 1) for axis in self.axes]
        for axis in self.axes:
            s = self.layer(axis, 0.5)
            self.u[axis] = s * (s * self.u[axis] - self.dt / self.staggered(axis) * slopes[axis])
        self.emit("u")
        strain = [self.slope(self.u[axis], axis, -1) for axis in self.axes]
        inertia = self.density + 2 * self.rho.sum(0) * (np.any(self.nonlinearity))
        for axis in self.axes:
            q = self.layer(axis, 0.0)
            self.rho[axis] = q * (q * self.rho[axis] - self.dt * inertia * strain[axis])
        self.emit("p")
        rho = self.rho.sum(0)
        rate = self.density * sum(strain)
        total = rho + self.nonlinearity / (2 * self.density) * rho**2
        total = total + self.tau * self.spectral(rate, self.powers(self.power - 2))
        total = total - self.eta * self.spectral(rho, self.powers(self.power - 1))
        self.p = np.square(self.speed) * total
        self.done += 1

    def powers(self, exponent: float) -> Floats:
        if exponent == 0:
            return np.ones_like(self.size)
        return np.power(self.size, exponent, out=np.zeros_like(self.size), where=self.size > 0)
