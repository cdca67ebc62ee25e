"""Warnings about simulations whose pressure will grow. The time step is that of the input file."""

from __future__ import annotations

from collections.abc import Iterator

from groundswell.solvers.ultrasound.kwave.input_file import KWaveInput
from groundswell.solvers.ultrasound.stability import DispersionShare, stable_step
from groundswell.solvers.ultrasound.stability_messages import unstable_dispersion, unstable_step


def stability_warnings(data: KWaveInput) -> Iterator[str]:
    """Warnings about dispersion that exceeds the stiffness, and about an unstable time step."""
    grid, medium, operators = data.grid, data.medium, data.operators
    share = DispersionShare.of(medium, grid)
    if share.largest > 1:
        yield unstable_dispersion(medium.power, share)
    limit = stable_step(medium, grid, operators.reference_speed, operators.dt)
    if operators.dt > limit:
        step = f"dt = {operators.dt:g} s"
        yield unstable_step(medium, operators.reference_speed, limit, step)
