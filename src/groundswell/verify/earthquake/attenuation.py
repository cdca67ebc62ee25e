"""Attenuation: the Q and the speed that plane waves meet on the grid, from two receivers apart.

A pulse is laid into a periodic box and runs along one axis. Between two places D apart a plane wave
changes by exp(-i k D), so the ratio of the spectra there gives the complex wavenumber k; the speed
is omega / Re k, and Q = -Re k^2 / Im k^2, which is Re M / Im M of the modulus M = rho omega^2 / k^2.
The decades of the band are run one after the other, each on cells that suit its wavelengths: since
nothing but the ratio of frequency and speed over spacing counts, the cells stay and the band moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.earthquake.attenuation import Relaxation
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.verify import Check
from groundswell.verify.earthquake import simulation as sim
from groundswell.verify.earthquake.simulation import Floats

H, DT = 100.0, 0.012  # m, s
VP, VS, RHO = 3000.0, 1732.0, 2500.0
AXES = "xyz"

BAND = (0.1, 10.0)  # Hz, of the fit
REFERENCE = 1.0  # Hz
SHORTEST = 10.0  # cells of the shortest wave measured
APART = 40  # cells between the receivers
FIRST = 30  # cells from the pulse's centre to the first receiver
PULSE = 2.0  # cells, standard deviation of the pulse
"""
