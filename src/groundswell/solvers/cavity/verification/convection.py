"""Convection between a hot and a cold wall, against spectral solutions.

Square: Hortmann, Peric & Scheuerer (1990, IJNMF 11:189) at Ra = 1e4 and 1e5, Le Quere (1991,
Comput. Fluids 20:29) at 1e6, de Vahl Davis (1983, IJNMF 3:249) at 1e3. Cube: our
Chebyshev collocation, converged to all digits given; Tric, Labrosse & Betrouni (2000,
IJHMT 43:4043) differ from it by 0.1 % at most. Speeds are in units of free fall.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from groundswell.backends import Backend
from groundswell.solvers.cavity.steady import bring_to_steady_state
from groundswell.solvers.cavity.verification.cases import FLAT, cavity, convection, converging
from groundswell.verify import Check

SQUARE = {1e3: 1.118, 1e4: 2.24475, 1e5: 4.52164, 1e6: 8.8252}
CUBE = {
    1e3: {"nusselt": 1.07109, "nusselt_mid_plane": 1.08845, "peak of u": 0.13259}
    | {"peak of w": 0.13287},
    1e4: {"nusselt": 2.05511, "nusselt_mid_plane": 2.25160, "peak of u": 0.19813}
    | {"peak of w": 0.22109},
    1e5: {"nusselt": 4.33696, "nusselt_mid_plane": 4.61268, "peak of u": 0.14137}
    | {"peak of w": 0.24551},
}
# Intervals along an axis of the finest of three grids: on a CPU, and in full.
SQUARE_GRIDS = {1e3: (32, 64), 1e4: (48, 128), 1e5: (80, 192), 1e6: (None, 320)}
CUBE_GRIDS = {1e3: (24, 64), 1e4: (48, 96), 1e5: (None, 160)}

WITHIN_SQUARE, WITHIN_CUBE, WITHIN_SPEEDS = 0.5, 0.3, 0.7  # per cent of the reference
LEAST_ORDER = 1.7


def square(backend: Backend, full: bool) -> Iterator[Check]:
    """Nusselt numbers of the square, extrapolated."""
    for rayleigh, reference in SQUARE.items():
        if intervals := SQUARE_GRIDS[rayleigh][full]:
            make = partial(cavity, fluid=convection(rayleigh), walls=FLAT)
            found = converging(make, intervals, backend)["nusselt"]
            error = 100 * (found.limit / reference - 1)
            name = f"square, Ra = {rayleigh:g}: Nu"
            note = f"{found.limit:.5g} against {reference:g}; order {found.order:.2f}"
            yield Check.near(name, error, 0, WITHIN_SQUARE, "%", note)


def cube(backend: Backend, full: bool) -> Iterator[Check]:
    """Nusselt numbers and largest speeds on the centre lines of the cube, extrapolated."""
    for rayleigh, references in CUBE.items():
        if intervals := CUBE_GRIDS[rayleigh][full]:
            found = converging(partial(cavity, fluid=convection(rayleigh)), intervals, backend)
            for name, reference in references.items():
                error = 100 * (found[name].limit / reference - 1)
                within = WITHIN_CUBE if name.startswith("nusselt") else WITHIN_SPEEDS
                title = f"cube, Ra = {rayleigh:g}: {name.replace('_', ' ')}"
                note = f"{found[name].limit:.5g} against {reference:g}"
                yield Check.near(title, error, 0, within, "%", note)
            order = found["nusselt"].order
            yield Check.at_least(f"cube, Ra = {rayleigh:g}: order", order, LEAST_ORDER)


def conducting(backend: Backend, full: bool) -> list[Check]:
    """Pure conduction at small Ra: Nu = 1 whatever the other walls, and T = 1/2 - x."""
    walls = {side: {"kind": "conducting"} for side in ("south", "north", "bottom", "top")}
    flow, *_ = bring_to_steady_state(cavity(8, convection(1.0), walls), backend)
    error = abs(flow.fields["T"] - (0.5 - flow.axes[0])).max()
    return [
        Check.near("conduction: Nu", flow.summary()["nusselt"], 1.0, 1e-4),
        Check.at_most("conduction: error of temperature", error, 1e-3),
    ]
