"""Damped oscillators driven by the ground, with acceleration that is linear between samples.

The displacement u of an oscillator relative to the ground obeys

    u'' + 2 z w u' + w^2 u = -a(t),    w = 2 pi / T,

where T is its period, z its damping ratio and a the ground acceleration (Nigam & Jennings 1969,
Calculation of response spectra from strong-motion earthquake records, equation 2). Their recursion
from sample to sample is exact if a is linear between samples.

The recursion has the form (u, u'/w) += changes @ (u, u'/w, a0, a1), with the acceleration at both
ends of a step. In a short step, the changes are small, and cancellation would make them inaccurate
if they were differences of the closed expressions of Nigam & Jennings (equations 9 and 10).
Therefore, they are computed as exp(M) - 1 of the matrix M of the equation, by its series. Adding
small changes also preserves the period of the oscillator in single precision.
"""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats

_TERMS = 16  # of the series of exp(M) - 1 for |M| <= 1/2, which then has all digits


def step_changes(periods: Floats, damping: float, interval: float) -> Floats:
    """Changes of the oscillators in a step, (periods, 2, 4).

    Args:
        periods: of the undamped oscillators, s, (periods,).
        damping: damping ratio, such as 0.05.
        interval: of a step, s.
    """
    angles = 2 * np.pi * interval / np.asarray(periods, float)  # of the oscillation in a step
    matrix = np.zeros((angles.size, 4, 4))  # of u, u'/w, a/w^2 and its change in a step
    matrix[:, 0, 1] = angles
    matrix[:, 1, :3] = angles[:, None] * [-1.0, -2 * damping, -1.0]
    matrix[:, 2, 3] = 1.0
    changes = _exp_minus_one(matrix)[:, :2]
    early, late = changes[..., 2] - changes[..., 3], changes[..., 3]
    scale = ((interval / angles) ** 2)[:, None]
    changes[..., 2:] = np.stack([early * scale, late * scale], axis=-1)
    return changes


def respond(ground: Floats, changes: Floats) -> Floats:
    """Displacements of oscillators at all samples, (periods, ..., samples), from rest.

    This is the reference for the kernel; it advances all oscillators together.

    Args:
        ground: acceleration of the ground, (..., samples).
        changes: see `step_changes`, (periods, 2, 4).
    """
    moved = np.zeros((len(changes), *ground.shape))
    state = np.zeros((len(changes), 2, *ground.shape[:-1]))
    for n in range(1, ground.shape[-1]):
        ends = np.broadcast_to(np.stack([ground[..., n - 1], ground[..., n]]), state.shape)
        state = state + np.einsum("pij,pj...->pi...", changes, np.concatenate([state, ends], 1))
        moved[..., n] = state[:, 0]
    return moved


def squared_frequencies(periods: Floats) -> Floats:
    """The squared angular frequencies of oscillators, 1/s^2.

    Times the largest displacement, they are the pseudo-spectral acceleration, m/s^2.
    """
    return (2 * np.pi / np.asarray(periods, float)) ** 2


def _exp_minus_one(matrix: Floats) -> Floats:
    """exp(M) - 1 of matrices (..., n, n) without cancellation, by scaling and squaring."""
    largest = max(float(np.abs(matrix).sum(axis=-1).max(initial=0.0)), 0.5)
    halvings = int(np.ceil(np.log2(largest))) + 1
    part = matrix / 2.0**halvings
    found = part / _TERMS
    for n in range(_TERMS - 1, 0, -1):
        found = (part + part @ found) / n
    for _ in range(halvings):
        found = 2 * found + found @ found
    return found
