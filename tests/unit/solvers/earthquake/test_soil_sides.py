"""Soft soil beside absorbing layers: its motion is that of a column, and ranks hold its ends."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from small_soil import ROWS, soil_case

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.exchange.decomposition import decompose as divide
from groundswell.grids.cartesian import Part
from groundswell.seismology.problems import case_sections
from groundswell.seismology.reference.soil_column import SoilColumn
from groundswell.solvers.earthquake.cost import decompose
from groundswell.solvers.earthquake.plasticity.soil_margins import SoilMargins
from groundswell.solvers.earthquake.plasticity.soil_ranks import beside_layers
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification import soil

CELLS, ACROSS, WIDTH = 45, 12, 8
BLOCKS = [((0, 0, 0), (51, 33, 19)), ((20, 0, 0), (31, 14, 19))]
H = soil.DEPTH / CELLS


def test_the_outermost_soil_moves_as_a_column() -> None:
    """A pulse that is uniform across meets the surface. The rounding of the column is 0.3 %.

    If layers stayed linear, the outermost cells would differ by three times the peak.
    """
    elements = soil.Elements.fit(soil.Hyperbola(), soil.SURFACES, soil.LARGEST)
    column = SoilColumn(soil.VS, soil.RHO, elements, soil.REFERENCE_STRAIN, soil.DEPTH)
    times = 0.02 * np.arange(1, 27, dtype=np.float64)
    wanted = column.surface_motion(soil.pulse, H / 2, times, 180)
    steps = int(np.ceil(times[0] / (0.4 * H / soil.VP)))
    found = sim.build(
        sim.make_case(
            grid={"size": (ACROSS * H, ACROSS * H, soil.DEPTH), "spacing": H},
            time={"duration": 0.52, "step": times[0] / steps},
            medium={"kind": "homogeneous", "vp": soil.VP, "vs": soil.VS, "rho": soil.RHO},
            boundary={"sides": "pml", "width": WIDTH},
            source=[case_sections.SILENCE],
            plasticity={
                **{"model": "iwan", "depth": 300.0, "surfaces": soil.SURFACES},
                "reference_strain": soil.REFERENCE_STRAIN,
            },
        ),
        open_backend("cpu"),
    )
    sim.fill(found, "vx", lambda x, y, z: soil.pulse(z))
    motion = []
    for _ in times:
        sim.advance(found, steps)
        motion.append(sim.read(found, ["vx"])["vx"][0])
    inside = slice(WIDTH, WIDTH + ACROSS)
    error = np.abs(np.array(motion)[:, inside, inside] - wanted[:, None, None]) / wanted.max()
    assert error.max() < 0.015
    assert np.abs(wanted).max() < 0.8 * soil.SPEED  # the soil yields


@pytest.mark.parametrize(("start", "cells"), BLOCKS)
def test_margins_are_the_layers_and_the_cells_beside_the_soil(start: Any, cells: Any) -> None:
    """Of the whole grid with layers of 5 cells, and of a block at its east and south sides."""
    layer = prepare(soil_case()).ground.soil
    assert layer is not None and layer.yielding == ((5, 44), (5, 26))
    margins = SoilMargins.of(layer, Part(layer.grid, start, cells))
    i, j = np.arange(start[0], start[0] + cells[0]), np.arange(start[1], start[1] + cells[1])
    yields = ((j >= 5) & (j <= 26))[:, None] & ((i >= 5) & (i <= 44))
    found = np.zeros(yields.shape, int)
    for block in margins.layers:
        (z, y, x), (nz, ny, nx) = block.start, block.shape
        assert (z, nz) == (0, ROWS + 1) and nx > 0 and ny > 0
        found[y : y + ny, x : x + nx] += 1
    assert np.array_equal(found, ~yields)
    beside = np.zeros((cells[1] + 2, cells[0] + 2), int)  # with a ghost on each side
    for block in margins.beside:
        (_, y, x), (_, ny, nx) = block.start, block.shape
        beside[y + 1 : y + 1 + ny, x + 1 : x + 1 + nx] += 1
    assert beside.max() <= 1
    padded = np.pad(yields, 1, mode="edge")
    near = np.zeros(padded.shape, bool)
    for dy, dx in itertools.product((-1, 0, 1), repeat=2):
        near |= np.roll(padded, (dy, dx), (0, 1))
    wanted = (near & ~padded)[1:-1, 1:-1]
    assert np.array_equal(beside[1:-1, 1:-1][wanted], np.ones(wanted.sum()))


def test_periodic_soil_has_no_margins() -> None:
    setup = prepare(soil_case(boundary={"sides": "periodic", "width": 5}))
    assert setup.ground.soil is not None
    margins = SoilMargins.of(setup.ground.soil, Part.whole(setup.grid))
    assert not [*margins.layers] and not [*margins.beside]


def test_blocks_reach_from_the_layers_into_the_soil() -> None:
    layer = prepare(soil_case()).ground.soil
    found = divide((19, 33, 51), 8, (False, False, False), (1, 1, 8))
    moved = beside_layers(found, layer)
    assert [*found.edges[2]][1] < 7 <= [*moved.edges[2]][1]
    assert [*found.edges[2]][2:-2] == [*moved.edges[2]][2:-2] and moved.edges[2][-2] <= 43
    assert beside_layers(found, None) is found


def test_blocks_that_are_too_thin_for_this_are_refused() -> None:
    case = soil_case(run={"processes": [17, 1, 1]})
    with pytest.raises(
        InputError, match=r"processes = \[17, 1, 1\]: each block beside an absorbing"
    ):
        decompose(prepare(case), 17)
