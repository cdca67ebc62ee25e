"""Attenuation of a case: relaxation mechanisms, and quantities and warnings for `check`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from groundswell.case.quantities import Quantity
from groundswell.errors import InputError
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.attenuation_fit import fit
from groundswell.seismology.case.media import Attenuation

Q_MISFIT = 0.1  # relative error of Q
QP_QS = 1.001  # largest Qp/Qs over its limit; allows for rounded Q in published models


class QualityFactors(Protocol):
    """Extremes of the quality factors of a medium; None where they are undefined."""

    @property
    def qp_min(self) -> float | None:
        """The smallest Qp."""

    @property
    def qs_min(self) -> float | None:
        """The smallest Qs of solids."""

    @property
    def qp_qs_max(self) -> float | None:
        """The largest Qp/Qs over 3/4 (vp/vs)^2."""


def fit_case(
    settings: Attenuation, statistics: QualityFactors, mechanisms: int | None = None
) -> Relaxation | None:
    """The relaxation mechanisms of a case; None without attenuation.

    Args:
        settings: `[attenuation]`.
        statistics: of the medium.
        mechanisms: see `fit`.

    Raises:
        InputError: the medium has no quality factors, or one that is too small for a fit.
    """
    if settings.model == "none":
        return None
    if statistics.qs_min is None and statistics.qp_min is None:
        raise InputError(
            f'attenuation.model = "{settings.model}", but the medium has no quality factors; give '
            'qp and qs, or a q_rule, or set attenuation.model = "none"'
        )
    smallest = min(q for q in (10.0, statistics.qp_min, statistics.qs_min) if q is not None)
    exponent, transition = getattr(settings, "exponent", 0.0), getattr(settings, "transition", 1.0)
    return fit(settings.model, exponent, transition, settings.band, smallest, mechanisms)


def attenuation_quantities(
    relaxation: Relaxation | None, statistics: QualityFactors, group: str
) -> Iterator[Quantity]:
    """The smallest quality factors, and the error of the fit; without text if there is no fit."""
    found = relaxation is not None
    named = {"Qp": statistics.qp_min, "Qs": statistics.qs_min} if found else {}
    smallest = {name: q for name, q in named.items() if q is not None}
    text = ", ".join(f"{name} = {q:.4g}" for name, q in smallest.items())
    yield Quantity("smallest_q", smallest, "smallest Q" * found, "", text, group)
    error, text = None, ""
    if relaxation is not None:
        error, (low, high) = relaxation.error, relaxation.band
        text = f"at most {100 * error:.2g} % from {low:g} to {high:g} Hz"
    yield Quantity("attenuation_error", error, "error of Q(f)" * found, "", text, group)


def attenuation_warnings(
    relaxation: Relaxation | None,
    statistics: QualityFactors,
    resolved: float,
    remedy: str = "narrow attenuation.band",
) -> Iterator[str]:
    """Reasons to expect inaccurate attenuation, each with a remedy.

    Args:
        resolved: frequency up to which the run resolves waves, Hz.
        remedy: for a poor fit.
    """
    if relaxation is None:
        return
    if (statistics.qp_qs_max or 0) > QP_QS:
        yield (
            "qp / qs exceeds 3/4 (vp / vs)^2 in some cells, so pure compression gains energy; "
            "lower qp there"
        )
    if relaxation.error > Q_MISFIT:
        yield (f"Q(f) differs from its target by up to {100 * relaxation.error:.0f} %; {remedy}")
    if resolved > (highest := relaxation.band[1]):
        yield (
            f"the run resolves {resolved:.3g} Hz, but Q is fitted up to {highest:g} Hz; widen "
            "attenuation.band"
        )
