"""Checks of the parts of a set-up that find invalid input."""

from __future__ import annotations

from collections.abc import Sequence

from groundswell.errors import InputError, listed
from groundswell.seismology.faults.stations import nearest_points
from groundswell.seismology.sources import placement
from groundswell.seismology.survey import Survey
from groundswell.solvers.dgwave.case import DgWaveCase, DgWaveOutput
from groundswell.solvers.dgwave.equations import Equations
from groundswell.solvers.dgwave.faults.model import Faults
from groundswell.solvers.dgwave.materials.elements import ElementMaterials

LEAST_UPWIND = 0.5  # weight of the Riemann flux, see `require_dissipation`
FLUXES = {0.0: "central", 1.0: "Riemann"}


def require_shear_in_solids(survey: Survey, elements: ElementMaterials) -> None:
    """Check that moments of sources in fluids are isotropic.

    Raises:
        InputError: a source in a fluid has a moment that is not isotropic.
    """
    placement.require_shear_in_solids(
        survey.entries, lambda places: elements.rigidity(*places.T) == 0
    )


def require_dissipation(flux: float, *, in_layers: bool, has_levels: bool) -> None:
    """Check that the flux dissipates enough for matched layers beside halved elements.

    With the central flux, waves in soft ground grow exponentially there.

    Args:
        flux: weight of the Riemann flux.
        in_layers: whether there are elastic waves in matched layers.
        has_levels: whether elements are halved.

    Raises:
        InputError: the flux dissipates too little.
    """
    if in_layers and has_levels and flux < LEAST_UPWIND:
        raise InputError(
            f"method.flux = {FLUXES.get(flux, flux)}: with matched layers and halved elements, "
            f'waves in solids may grow without limit; use "riemann" or at least {LEAST_UPWIND:g}, '
            'or boundary layers of kind "sponge"'
        )


def require_faults(output: DgWaveOutput, faults: Faults | None) -> None:
    """Check that there are faults where the case records them.

    Raises:
        InputError: there is no fault, or a point is not on one.
    """
    if output.rupture and faults is None:
        raise InputError("output.rupture: the case has no fault; add a [[fault]], or remove it")
    if output.fault_points:
        nearest_points(output.fault_points, faults.named_points if faults else {})


def require_fields(output: DgWaveOutput, fields: Sequence[str], equations: Equations) -> None:
    """Check that a run has all fields that the case records.

    Args:
        fields: those that it has.

    Raises:
        InputError: it lacks a field.
    """
    recorded = {f"record[{n}]": record.fields for n, record in enumerate(output.record)}
    if output.volumes:
        recorded["volumes"] = output.volumes.fields
    for key, names in recorded.items():
        absent = [field for field in names if field not in fields]
        if absent:
            kind = "elastic" if equations.elastic else "acoustic"
            raise InputError(
                f'output.{key}.fields: the {kind} equations have no "{absent[0]}"; use '
                f"{listed(fields)}"
            )


def require_exact_traces(case: DgWaveCase) -> None:
    """Check that ranks send the values that a fault between them needs.

    Raises:
        InputError: they send rounded ones.
    """
    if case.fault and case.run.narrow:
        raise InputError(
            f'run.narrow = "{case.run.narrow}" rounds what ranks send, and both sides of a fault '
            "need the same values; leave it out"
        )
