"""A file that Gmsh itself has written: a quarter of a ring, in curved hexahedra of 27 nodes.

Radii are 1 and 2, the height is 1; with 2 x 3 x 2 elements, from a transfinite surface that was
extruded, of order 2 (Gmsh 4, MSH 4.1).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import groundswell as gs
from groundswell.meshes.hexahedra import positions
from groundswell.spectral_elements.geometry import compute_mass

RING = Path(__file__).parent / "ring.msh"
CURVED = 5e-4  # how far parabolas are from circles


def test_elements_fill_the_ring() -> None:
    mesh, sides = gs.poisson.read_mesh(RING)
    assert (mesh.count, mesh.order) == (12, 2) and {"inner", "outer"} <= sides.keys()
    mass = compute_mass(mesh, 4, np.arange(12))
    assert mass.sum() == pytest.approx(3 * np.pi / 4, rel=CURVED)
    x, y, z = np.moveaxis(positions(mesh, 2, np.arange(12)), -1, 0)
    radii = np.hypot(x, y)
    assert radii.min() > 1 - CURVED and radii.max() < 2 + CURVED
    assert (z.min(), z.max()) == (0.0, 1.0)


def test_what_flows_from_one_side_to_the_other() -> None:
    """Potential of a coaxial cable, log r."""
    mesh, sides = gs.poisson.read_mesh(RING)
    given = {"inner": {"kind": "fixed"}, "outer": {"kind": "fixed", "value": float(np.log(2))}}
    found = gs.poisson.solve(mesh, 7, 0.0, given, sides=sides)
    x, y, _ = np.moveaxis(found.positions, -1, 0)
    assert np.abs(found.values - np.log(np.hypot(x, y))).max() < 2 * CURVED
