"""The energy of the reference of discontinuous Galerkin kernels, on equal and on refined bricks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dg_scheme
import numpy as np
import pytest
from dg_bricks import Bricks, equal, lattice, refined
from dg_energy import Coordinates, energy, random_state
from dg_meshes import CLOSED, PERIODIC, interface, random_medium
from dg_scheme import Scheme, Trace
from variants import long_variants

from groundswell.arrays import Floats

pytestmark = pytest.mark.each_value


def test_energy_in_coordinates() -> None:
    bricks = equal((2, 1, 1))
    for kind, fields in (("solid", 9), ("mixed", 9), ("fluid", 9), ("fluid", 4)):
        scheme = Scheme(bricks, 2, *random_medium(bricks, 2, kind, nodal=True))
        coordinates, u = Coordinates(scheme, fields), random_state(scheme, fields)
        c = coordinates.of(u)
        assert energy(scheme, u) == pytest.approx(c @ c / 2, rel=1e-13)
        assert np.allclose(coordinates.state(c), u, rtol=1e-12, atol=1e-12)


def operators(scheme: Scheme, fields: int) -> list[Floats]:
    """Matrices for the central flux, a blend and the upwind flux."""
    return [Coordinates(replace(scheme, theta=t), fields).matrix() for t in (0.0, 0.3, 1.0)]


def growth(G: Floats) -> Any:
    """Extreme eigenvalues of the symmetric part, which bound real parts of those of G.

    They are relative to the largest column, which is no larger than the norm of G.
    """
    found = np.linalg.eigvalsh((G + G.T) / 2)
    return found[[0, -1]] / np.linalg.norm(G, axis=0).max()


def check_energy(scheme: Scheme, fields: int) -> None:
    """Energy is constant with the central flux and falls with others; waves are reciprocal."""
    parity = np.ones(Coordinates(scheme, fields).shape)
    parity[:, -3:] = -1
    parity = parity.ravel()
    for theta, G in zip((0, 0.3, 1), operators(scheme, fields), strict=True):
        least, most = growth(G)
        assert most <= 1e-13
        assert abs(least) <= 1e-13 if theta == 0 else least < -0.01
        assert np.abs(G - parity[:, None] * G.T * parity).max() <= 1e-13 * np.abs(G).max()


SMALL = equal((2, 1, 1))


@pytest.mark.parametrize("nodal", [False, True])
@pytest.mark.parametrize("reflections", [PERIODIC, CLOSED])
@pytest.mark.parametrize("kind", ["solid", "fluid", "mixed"])
def test_energy_on_equal_bricks(kind: str, reflections: Any, nodal: bool) -> None:
    bricks = Bricks(lattice((2, 1, 1), uneven=3), SMALL.low, SMALL.width, reflections)
    scheme = Scheme(bricks, 2, *random_medium(bricks, 2, kind, nodal=nodal))
    check_energy(scheme, 9)


@pytest.mark.parametrize(
    ("axis", "degree", "kind", "fields", "reflections"),
    [
        (2, 1, "mixed", 9, CLOSED),
        *long_variants(
            [
                (0, 2, "mixed", 9, PERIODIC),
                (1, 1, "solid", 9, PERIODIC),
                (1, 3, "fluid", 4, PERIODIC),
                (2, 2, "fluid", 4, CLOSED),
            ]
        ),
    ],
)
def test_energy_of_finer_next_to_coarse(
    axis: int, degree: int, kind: str, fields: int, reflections: Any
) -> None:
    bricks = interface(axis, reflections)
    medium = random_medium(bricks, degree, kind, nodal=axis == 1)
    check_energy(Scheme(bricks, degree, *medium), fields)


def test_energy_where_refinement_ends_along_two_axes() -> None:
    bricks = refined(lattice((4, 4, 2)), [[0, 0, 0], [2, 0, 0], [0, 2, 0]])
    check_energy(Scheme(bricks, 1, *random_medium(bricks, 1, "solid")), 9)


def test_energy_grows_if_both_corrections_are_projected_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skew = Scheme._on_quarters

    def alike(self: Scheme, own: Trace, others: list[Trace], axis: int) -> Any:
        """Tractions are projected before the own ones are taken off, too."""
        change_T, change_v = skew(self, own, others, axis)
        parts = [(q, self._quarter(own, axis, q).traction) for q in range(4)]
        whole = sum(
            dg_scheme.tensor(dg_scheme.projections(self.degree), axis, q, f) for q, f in parts
        )
        return change_T + whole - own.traction, change_v

    monkeypatch.setattr(Scheme, "_on_quarters", alike)
    bricks = interface(0)
    G = operators(Scheme(bricks, 2, *random_medium(bricks, 2, "fluid")), 4)[0]
    assert growth(G)[1] > 0.01
