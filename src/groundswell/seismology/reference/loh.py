"""The layer-over-half-space problems LOH.1 (elastic) and LOH.3 (anelastic), and their solutions.

A layer of 1 km lies over a half-space. A vertical strike-slip point source, Mxy = 1e18 N m, is at a
depth of 2 km below the origin. Receivers are on the surface at multiples of (600 m, 800 m). Defined
by Day et al. (2001), "Tests of 3D elastodynamic codes: final report for Lifelines Project 1A01",
Pacific Earthquake Engineering Research Center; LOH.3 also in Day and Bradley (2001), BSSA 91,
520-531. The
solutions at receiver 10 are semi-analytic (frequency-wavenumber method) and were distributed with
SW4 (github.com/geodynamics/sw4, tools/LOH.1_prose3 and tools/LOH.3_prose_corrected).

In the frame x east, y north, z down, the components of the solutions are

- radial: along (0.6, 0.8, 0), away from the source;
- transverse: along (-0.8, 0.6, 0), to the left of radial, counter-clockwise on a map;
- vertical: down.

The first motions confirm this. With Mxy > 0 the azimuth of (6, 8) km is in a compressional
quadrant, so P motion is outward and up, and S motion is along (0.8, 0.6) less its radial part, that
is, transverse negative.

The accuracy of the series follows from a comparison with layered.py. LOH.1 arrives 1 to 4 ms late
and is too small by 1 % below 2 Hz and by 4 % at 7 Hz, as if Qs were 2500. LOH.3 is too small by 5 %
below 1 Hz and by 1 % at 5 Hz, and its times are correct to 1 ms. If the source has energy at the
Nyquist frequency of the tables, 62 Hz, as Brune's does, the peaks of LOH.1 depend on where the
spectrum ends: filter before comparing peaks.

The third line of the spectrum of LOH.1, at 0.183 Hz, is wrong in the radial component. Compared
with its neighbours and LOH.3, its amplitude is a third too small and its phase is off by 0.8. This
causes a ripple of 0.016 m/s and a period of 5.5 s before the first arrival.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.reference.pulse import Pulse

STEP = 0.008  # s, between samples of the solutions
STATION = 10

# Column and scale of each component: the tables have the velocity of a unit step of moment, in
# units of 1e5 m/s, vertical up.
_COLUMNS = {"radial": (1, 1e5), "transverse": (2, 1e5), "down": (0, -1e5)}
COMPONENTS = tuple(_COLUMNS)

_OVERSAMPLING = 16  # of the source, for its spectrum below the Nyquist frequency of the tables


@dataclass(frozen=True)
class LayeredProblem:
    """A point source in a stack of layers, receivers on the free surface z = 0."""

    name: str
    layers: tuple[Layer, ...]
    reference_frequency: float | None  # Hz, of the speeds; None if elastic
    source: tuple[float, float, float] = (0.0, 0.0, 2000.0)  # m
    moment: tuple[float, ...] = (0.0, 0.0, 0.0, 1e18, 0.0, 0.0)  # N m: xx, yy, zz, xy, xz, yz
    rise: float = 0.1  # s, T of the moment rate (t/T^2) exp(-t/T)
    duration: float = 9.0  # s

    @property
    def receiver(self) -> tuple[float, float, float]:
        """Position of receiver STATION, m."""
        return 600.0 * STATION, 800.0 * STATION, 0.0


PROBLEMS = {
    "loh1": LayeredProblem(
        name="LOH.1",
        layers=(Layer(0.0, 4000.0, 2000.0, 2600.0), Layer(1000.0, 6000.0, 3464.0, 2700.0)),
        reference_frequency=None,
    ),
    "loh3": LayeredProblem(
        name="LOH.3",
        layers=(
            Layer(0.0, 4000.0, 2000.0, 2600.0, qp=120.0, qs=40.0),
            Layer(1000.0, 6000.0, 3464.0, 2700.0, qp=155.9, qs=69.3),
        ),
        reference_frequency=2.5,
    ),
}


def loh_reference(problem: str, source: Pulse | None = None) -> tuple[Floats, Floats]:
    """Velocity at the receiver of "loh1" or "loh3".

    Args:
        source: moment-rate function of unit area, 1/s, zero before t = 0; by default the problem's.

    Returns:
        Times every 8 ms from 0 to 9 s, s, (n,), and velocity, m/s, (3, n), with rows radial
        (outward), transverse (to the left of radial on a map) and vertical (down).
    """
    definition = PROBLEMS[problem]
    velocity = _convolve(_impulse_response(problem), source or Pulse.brune(definition.rise))
    count = round(definition.duration / STEP) + 1
    return np.linspace(0.0, definition.duration, count), velocity[:, :count]


def radial_transverse(vectors: ArrayLike, position: tuple[float, ...]) -> Floats:
    """Rotate vectors (x, y, z down) to (radial, transverse, down), (3, ...).

    Args:
        vectors: components as rows, (3, ...).
        position: position (x, y, ...) of the receiver relative to the source. Radial points to it,
            transverse to the left of radial on a map with x east and y north.
    """
    x, y = position[:2]
    distance = float(np.hypot(x, y))
    c, s = x / distance, y / distance
    rotation = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.tensordot(rotation, np.asarray(vectors, dtype=float), axes=1)


def _impulse_response(problem: str) -> Floats:
    """The table of `problem`, rows radial, transverse, down, m/s, (3, 2048)."""
    table = files("groundswell.seismology.reference") / f"{problem}_station{STATION}.csv.gz"
    lines = gzip.decompress(table.read_bytes()).decode().splitlines()
    columns = np.loadtxt(lines, delimiter=",", skiprows=3, unpack=True)
    return np.stack([scale * columns[c] for c, scale in _COLUMNS.values()])


def _convolve(response: Floats, rate: Pulse) -> Floats:
    """Convolve band-limited samples with a pulse that is not band-limited, without aliasing.

    The responses have all frequencies up to the Nyquist frequency and ring there. Sampling the
    pulse every 8 ms would alias its spectrum and change peaks by some parts in a thousand. The
    spectrum is therefore computed from finer samples. A smooth pulse has almost no energy at the
    Nyquist frequency, which removes the ringing.
    """
    n = 2 * response.shape[1]  # padded, so that nothing wraps around
    fine = STEP / _OVERSAMPLING
    spectrum = fine * np.fft.rfft(rate(fine * np.arange(n * _OVERSAMPLING)))[: n // 2 + 1]
    return np.fft.irfft(np.fft.rfft(response, n) * spectrum, n)[:, : response.shape[1]]
