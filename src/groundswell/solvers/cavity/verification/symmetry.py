"""Conservation and symmetry: the heat balance, and invariance under rotation by 180 degrees."""

from __future__ import annotations

from groundswell.backends import Backend
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import cavity, convection
from groundswell.verify import Check

RAYLEIGH = 1e5
TURNED = {"u": -1, "v": 1, "w": -1, "T": -1}  # signs after half a turn about the y axis


def centre(backend: Backend, full: bool) -> list[Check]:
    """Balance of heat, symmetry about the centre, and residuals down to rounding."""
    case = cavity(63 if full else 23, convection(RAYLEIGH), tolerance=1e-10)
    flow, solver, _ = bring_to_steady_state(case, backend)
    found = flow.summary()
    heat = abs(found["nusselt"] / found["nusselt_cold"] - 1)
    asymmetry = max(
        abs(field - sign * field[::-1, :, ::-1]).max()
        for field, sign in ((flow.fields[name], sign) for name, sign in TURNED.items())
    )
    return [
        Check.at_most("heat in over heat out, less 1", heat, 1e-6),
        Check.at_most("asymmetry about the centre", asymmetry, 1e-7),
        Check.at_most("largest residual", float(solver.history.latest.max()), 1e-10),
    ]
