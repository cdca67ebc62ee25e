"""Reflection coefficients of sponges for plane waves.

In a layer where all fields of sound decay at the rate s, waves exp(i (k x - w t)) satisfy

    g p = -K div v,   g rho v = -grad p,   g = s - i w,

and vary with the depth as exp(-q z) with q^2 = (g / c)^2 + k^2. The vertical velocity of a wave
that propagates downward is q / (g rho) times its pressure. Without damping, this admittance is
cos a / (rho c) at the angle a, and at normal incidence it never changes. In SH waves, the
impedance varies with s in the same way, so that they have the same reflection coefficients.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Complexes
from groundswell.solvers.dgwave.boundaries.layers import sponge_decay

N_LAYERS = 400  # thin layers of uniform damping in a sponge


def reflection_coefficient(
    angle: ArrayLike, wavelengths: ArrayLike, fastest: float = 1.0
) -> Complexes:
    """Ratio of the reflected to the incident pressure at the inner end of a sponge.

    The admittance is carried from the absorbing boundary at the outer end through thin uniform
    layers (Brekhovskikh, Waves in Layered Media, 2nd ed., sec. 3).

    Args:
        angle: of incidence, degrees.
        wavelengths: thickness of the sponge over the wavelength; broadcasts against `angle`.
        fastest: speed of the fastest wave of the medium over that of this wave.
    """
    angle = np.radians(angle)
    frequency = 2 * np.pi * np.asarray(wavelengths)  # angular; c = rho = 1, thickness = 1
    along = frequency * np.sin(angle)
    depths = (np.arange(N_LAYERS) + 0.5) / N_LAYERS
    admittance = np.ones(np.broadcast(angle, frequency).shape, np.complex128)
    for rate in sponge_decay(depths[None], np.ones(1), fastest)[0, ::-1]:
        g = rate - 1j * frequency
        q = np.sqrt(g**2 + along**2)  # its real part is positive
        own = q / g
        reflected = (own - admittance) / (own + admittance) * np.exp(-2 * q / N_LAYERS)
        admittance = own * (1 - reflected) / (1 + reflected)
    return (np.cos(angle) - admittance) / (np.cos(angle) + admittance)
