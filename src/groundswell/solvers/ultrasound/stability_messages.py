"""Messages about time steps and media with which waves grow."""

from __future__ import annotations

import numpy as np

from groundswell.solvers.ultrasound.density_contrast import has_uniform_density
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.stability import DispersionShare

LEAVE_OUT = 'leave out dispersion with medium.effects = ["absorption"]'


def unstable_step(
    medium: AcousticMedium, reference_speed: float, limit: float, time_step: str
) -> str:
    """Why a time step is unstable, and what to do.

    Args:
        medium: the medium.
        reference_speed: sound speed of the k-space correction, m/s.
        limit: the longest stable step, s.
        time_step: name and value of the time step.
    """
    causes = [f"the reference speed of {reference_speed:g} m/s"]
    causes += ["this absorption"] * medium.is_absorbing
    causes += [f"{density_range(medium)}, whose contrast shortens stable steps"] * (
        not has_uniform_density(medium)
    )
    fastest = float(np.max(medium.speed))
    cures = [f"use at most {limit:.4g} s"]
    cures += [f"a reference speed of {fastest:g} m/s"] * (reference_speed < fastest)
    cures += ["densities that differ less"] * (not has_uniform_density(medium))
    return f"{time_step} is unstable with {', '.join(causes)}; {', or '.join(cures)}"


def close_step(medium: AcousticMedium, limit: float, time_step: str) -> str:
    """Warning about a time step close to a limit that is only estimated."""
    return (
        f"{time_step} is close to the limit of {limit:.4g} s for {density_range(medium)}, which is "
        "known to a few per cent; if the pressure grows, use a shorter step"
    )


def density_range(medium: AcousticMedium) -> str:
    """The densities of a medium as text."""
    least, most = float(np.min(medium.density)), float(np.max(medium.density))
    return f"densities from {least:g} to {most:g} kg/m^3"


def unstable_dispersion(power: float, share: DispersionShare, cure: str = "") -> str:
    """Why waves grow with any time step if dispersion exceeds the stiffness, and what to do.

    Args:
        power: exponent y of the absorption.
        share: the share of the dispersion.
        cure: how to leave out dispersion, where that is possible.
    """
    waves, others = ("long", "a power further from 1") if power < 1 else ("short", "a lower power")
    grow = "grow" if share.waves_grow else "may grow"
    return (
        f"with the power {power:g} and this absorption, {waves} waves {grow} at every time step, "
        f"because the dispersion is {share.largest:.3g} times the stiffness of the medium; "
        f"{cure and f'{cure}, '}reduce the absorption, or choose {others}"
    )
