"""DG waves: cases with rock that yields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dgwave_cases import build, setup
from dgwave_rank_cases import VARIANTS
from small_ruptures import FAULT

import groundswell as gs
from groundswell.arrays import Floats
from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.check import quantities, warnings
from groundswell.solvers.dgwave.cost import bytes_per_update, estimate
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.memory import device_memory
from groundswell.solvers.dgwave.plasticity.rank import NEVER, RankRock
from groundswell.solvers.dgwave.solver import DgWave

WEAK = {
    "model": "drucker-prager",
    "cohesion": "20 kPa",
    "friction_angle": "0 deg",
    "relaxation_time": "10 ms",
}
FORCE = {
    "kind": "force",
    "force": [3e10, 2e10, -1e10],
    "x": 400,
    "y": 300,
    "depth": 200,
    "time_function": {"kind": "gaussian", "sigma": 0.03},
}
ROCK = {"vp": 3000.0, "vs": 1700.0, "rho": 2500.0}
SEA = {
    "kind": "layered",
    "layers": [{"top": 0, "vp": 1500, "vs": 0, "rho": 1000}, {"top": 200, **ROCK}],
}


def content(**changes: Any) -> dict[str, Any]:
    """A force that makes the rock around it yield."""
    return {
        "source": [FORCE],
        "plasticity": WEAK,
        "time": {"duration": 0.3},
        "run": {"precision": "double"},
        "receiver": None,
        "output": {"final_fields": True, "shaking_map": False},
        **changes,
    }


@pytest.fixture(scope="module")
def strain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Runs a case, and returns its fields at the end in a function of the position."""

    def run(**changes: Any) -> Any:
        given = {k: v for k, v in content(**changes).items() if v is not None}
        case = build(**given, **{} if "receiver" in given else {"receiver": []})
        return gs.run(case, folder=tmp_path_factory.mktemp("yield"), quiet=True)

    return run


def at_nodes(result: Any, name: str, axes: tuple[int, ...] = (0, 1, 2)) -> Floats:
    """Values ordered by the position of their nodes, with exchanged axes.

    Elements share nodes; there, values ascend.
    """
    fields = result.fields
    place = [fields[axis].values.ravel().round(3) for axis in "xyz"]
    values = np.asarray(fields[name].values.ravel())
    return values[np.lexsort([values, *(place[axis] for axis in axes)])]


def test_weak_rock_around_a_force_yields(strain: Any) -> None:
    """The farther away, the less; the motion is weaker than without."""
    yields, linear = strain(), strain(plasticity=None)
    fields = yields.fields
    away = np.sqrt((fields.x - 400) ** 2 + (fields.y - 300) ** 2 + (fields.z - 200) ** 2)
    found = fields.plastic_strain.values
    assert found.max() > 1e-5 and found.min() == 0
    assert found[away.values < 150].mean() > 3 * found[(away > 300).values].mean()
    assert "plastic_strain" not in linear.fields
    assert not np.array_equal(yields.fields.vx, linear.fields.vx)


def test_strong_rock_is_linear_bit_by_bit(strain: Any) -> None:
    """Also with attenuation and matched layers."""
    anelastic = {
        "medium": {"kind": "homogeneous", **ROCK, "qp": 60, "qs": 30},
        "attenuation": {"model": "constant"},
        "boundary": {"sides": "pml", "width": 2},
    }
    strong, linear = (
        strain(plasticity=rock, **anelastic) for rock in ({**WEAK, "cohesion": 1e30}, None)
    )
    assert not strong.fields.plastic_strain.values.any()
    for name in ("sxx", "syz", "vx"):
        assert np.array_equal(strong.fields[name], linear.fields[name])


def test_exchanging_x_and_y_exchanges_the_results(strain: Any) -> None:
    """To the asymmetry of the source's load, 3e-9 of the stress."""
    turned = {**FORCE, "force": [2e10, 3e10, -1e10], "x": 300, "y": 400}
    first, second = strain(), strain(source=[turned])
    for name, other in (("plastic_strain", "plastic_strain"), ("vx", "vy"), ("sxz", "syz")):
        expected = at_nodes(first, name)
        found = at_nodes(second, other, (1, 0, 2))
        assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()


def test_fluids_layers_and_the_stress_of_moments_do_not_yield() -> None:
    explosion = {
        "kind": "explosion",
        "magnitude": 3,
        "x": 300,
        "y": 300,
        "depth": 500,
        "time_function": {"kind": "gaussian", "sigma": 0.1},
    }
    found = setup(**content(medium=SEA, source=[explosion], boundary={"width": 1}, receiver=[]))
    geometry, rock = found.geometry, found.rock
    everyone = np.arange(geometry.count)
    can = rock.can_yield(everyone)
    depth = geometry.hexahedra.geometry_nodes(everyone).mean(axis=1)[:, 2]
    assert (can == (geometry.in_region(everyone) & (depth > 200))).all()
    elements = found.partition.elements(1, 0)
    rows = discretise(found, elements).rock.rows  # type: ignore[union-attr]
    leaves, _ = geometry.locate(np.array([[300.0, 300.0, 500.0], [700.0, 700.0, 500.0]]))
    at_source, far = (np.flatnonzero(elements.numbers == leaf)[0] for leaf in leaves)
    assert rows[at_source] == NEVER and rows[far] >= 0
    assert (rows[~can[elements.numbers]] == NEVER).all()


def test_a_rank_without_yielding_rock_has_an_empty_table() -> None:
    rock = setup(**content(medium=SEA, receiver=[])).rock
    fluid = np.flatnonzero(~rock.can_yield(np.arange(rock.elements.geometry.count)))
    found = RankRock.of(rock, fluid, np.zeros(0, int), "float32")
    assert (found.rows == NEVER).all() and found.table.shape[1:] == (2, 27)


def test_bricks_of_a_layer_share_the_values_of_their_nodes() -> None:
    rock = setup(**content(plasticity={**WEAK, "friction_angle": "30 deg"}, receiver=[])).rock
    everyone = np.flatnonzero(rock.can_yield(np.arange(rock.elements.geometry.count)))
    found = RankRock.of(rock, everyone, np.zeros(0, int), "float64")
    assert len(found.table) == 3 and rock.shares_rows
    for n, row in zip(everyone, found.rows, strict=True):
        assert (found.table[row] == rock.table(np.array([n]))[0]).all()


def test_the_weight_of_the_rock_is_the_mean_over_elements() -> None:
    """With layers of different densities, below hills."""
    layers = {
        "kind": "layered",
        "layers": [{"top": 0, **ROCK, "rho": 2000}, {"top": 200, **ROCK, "rho": 3000}],
    }
    for hills in (None, {"kind": "formula", "elevation": "20 * sin(pi * x / 400)"}):
        rock = setup(**content(medium=layers, topography=hills, receiver=[])).rock
        depth = np.array([0.0, 100, 200, 500])
        expected = 9.81 * np.array([0.0, 2e5, 4e5, 13e5])
        found = rock.initial.overburden.at(depth)
        assert found == pytest.approx(expected, rel=0.1 if hills else 1e-9)


def test_plastic_strain_is_recorded_as_other_fields_are(strain: Any) -> None:
    """With velocities, whose values lie otherwise in memory."""
    places = [[400, 300, 200], [210, 390, 130], [600, 600, 400]]
    where = {"kind": "points", "positions": places}
    record = {
        "fields": ["vx", "plastic_strain", "sxy"],
        "where": where,
        "what": ["raw", "max", "final"],
        "file": "points.nc",
    }
    only = {**record, "fields": ["plastic_strain"], "file": "only.nc"}
    output = {
        "record": [record, only],
        "final_fields": True,
        "volumes": {"interval": 0.1, "fields": ["vx", "plastic_strain"]},
        "shaking_map": False,
    }
    result = strain(output=output)
    series, alone = result.records["points.nc"], result.records["only.nc"]
    assert np.array_equal(series.plastic_strain, alone.plastic_strain)
    assert float(series.plastic_strain.max()) > 0 and series.plastic_strain.units == "1"
    final = result.fields
    x, y, z = (final[axis].values for axis in "xyz")
    node = np.argwhere((x == 400) & (y == 300) & (z == 200))[0]
    statistics = result.records["points_statistics.nc"]
    for name in record["fields"]:
        found = float(statistics[f"{name}_final"][0])
        assert found == pytest.approx(float(final[name].values[tuple(node)]), rel=1e-9)


@pytest.mark.parametrize("hills", [None, {"kind": "formula", "elevation": "30 * sin(x / 150)"}])
def test_the_map_and_the_findings_are_those_of_the_field(strain: Any, hills: Any) -> None:
    """Linear between the nodes of a face: no more than its nodes have, and none without strain."""
    result = strain(topography=hills, source=[{**FORCE, "depth": 100}])
    field, surface = result.fields, result.plastic_strain.plastic_strain
    nodes = field.plastic_strain.values
    findings = result.summary["findings"]
    assert findings["largest_plastic_strain"] == pytest.approx(nodes.max(), rel=1e-12)
    shares = np.array([1, 4, 1]) / 6  # of the nodes of a line, by Simpson's rule
    weights = np.einsum("i,j,k->ijk", shares, shares, shares).ravel()
    inside = (field.x.values.min(axis=1) >= 0) & (field.x.values.max(axis=1) <= 800)
    assert nodes[~inside].max() == 0
    volume = ((nodes > 0) @ weights).sum() * 200**3
    assert findings["yielded_volume"] == pytest.approx(volume, rel=0.02 if hills else 1e-9)
    assert surface.shape == (8, 8) and 0 < float(surface.max()) <= nodes.max()
    if not hills:  # a point in the middle of four nodes of an element
        place = (surface.x.values[3], surface.y.values[2], 0.0)
        corners = [np.abs(field[axis].values - at) for axis, at in zip("xyz", place, strict=True)]
        near = (corners[0] < 60) & (corners[1] < 60) & (corners[2] == 0)
        own = near.sum(axis=1) == 4
        assert float(surface[2, 3]) == pytest.approx(nodes[own][near[own]].mean(), rel=1e-9)
    assert (result.folder / "plastic_strain.nc").exists()


def test_memory_and_traffic_count_the_rock() -> None:
    linear, flat, curved = (
        setup(**content(plasticity=rock, topography=hills, receiver=[]))
        for rock, hills in (
            (None, None),
            (WEAK, None),
            (WEAK, {"kind": "formula", "elevation": "20 * sin(x / 100)"}),
        )
    )
    elements = linear.partition.elements(1, 0)
    nodes = linear.geometry.count * 27 * 8
    assert device_memory(flat, elements) - device_memory(linear, elements) == nodes
    given = (curved.equations, curved.materials, curved.absorption, "float64")
    more = bytes_per_update(*given, curved.rock) - bytes_per_update(*given)
    assert more == pytest.approx((6 + 2) / 9 / 5 * 8)


# --- check and mistakes ---------------------------------------------------------------------------


def test_check_describes_the_rock() -> None:
    found = setup(**content(receiver=[]))
    told = {q.key: q for q in quantities(found, estimate(found))}
    assert told["cohesion"].value == [2e4, 2e4] and told["relaxation_time"].value == 0.01
    assert not any("plasticity" in text for text in warnings(found))
    loaded = {**WEAK, "stress": {"ratio": 0.1}}
    found = setup(**content(plasticity=loaded, receiver=[]))
    assert any("initial shear stress exceeds the strength" in text for text in warnings(found))


def test_strength_by_physical_volume() -> None:
    case = VARIANTS["mesh"] | {
        "plasticity": {
            **WEAK,
            "material": [{"name": "inside", "cohesion": "7 MPa", "friction_angle": 10}],
        }
    }
    rock = prepare(DgWaveCase.from_dict(case)).rock
    found = rock.at(np.arange(5))
    assert found.cohesion_cos == pytest.approx(7e6 * np.cos(np.radians(10)))
    other = {**WEAK, "material": [{"name": "insde", "cohesion": 1, "friction_angle": 1}]}
    with pytest.raises(CaseError, match='"inside"'):
        DgWaveCase.from_dict({**case, "plasticity": other})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"medium": {"kind": "homogeneous", "vp": 1500, "vs": 0, "rho": 1000}}, "whole medium is"),
        (
            {
                "plasticity": None,
                "output": {"volumes": {"interval": 0.1, "fields": ["plastic_strain"]}},
            },
            r"add \[plasticity\]",
        ),
        ({"plasticity": {**WEAK, "cohesion": "1e4 * (x - 300)"}}, "plasticity.cohesion = -"),
    ],
)
def test_mistakes_are_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        found = setup(**content(**changes, receiver=[]))
        assert found.rock.at(np.arange(found.geometry.count))


def test_materials_of_a_grid_have_no_names() -> None:
    named = {"name": "sediment", "cohesion": 1e6, "friction_angle": 20}
    with pytest.raises(CaseError, match="materials have names"):
        build(**content(plasticity={**WEAK, "material": [named]}, receiver=[]))


def test_sheared_rock_may_let_waves_grow() -> None:
    """It has energy to give; rock under pressure has none."""
    for ratio, is_endless in ((1.0, False), (0.8, True)):
        rock = {**WEAK, "stress": {"ratio": ratio}}
        found = DgWave(setup(**content(plasticity=rock, receiver=[])), open_backend("cpu"))
        assert np.isinf(found.sources_end) == is_endless


def test_rock_yields_where_a_fault_stretches_it(strain: Any) -> None:
    """South of a right-lateral fault, the rock moves west: it is stretched in the east."""
    tensor = dict.fromkeys(("xx", "yy", "zz"), -120e6) | {"xy": 70e6, "xz": 0.0, "yz": 0.0}
    weak = {**WEAK, "cohesion": "12 MPa", "friction_angle": 30, "relaxation_time": 0}
    found = strain(
        medium={"kind": "homogeneous", "vp": 6000.0, "vs": 3464.0, "rho": 2670.0},
        grid={"size": [800, 800, 600], "spacing": 100},
        source=[],
        fault=[{**FAULT, "stress": {"tensor": tensor}}],
        time={"duration": 0.1},
        plasticity={**weak, "stress": {"tensor": tensor}},
    )
    x, y = (found.fields[axis].values for axis in "xy")
    plastic = found.fields.plastic_strain.values
    near = np.abs(y - 400)
    assert plastic[near < 200].sum() > 0.9 * plastic.sum() > 0
    for side, stretched, pressed in ((y < 400, x > 500, x < 300), (y > 400, x < 300, x > 500)):
        ends = [plastic[side & (near < 100) & end].mean() for end in (stretched, pressed)]
        assert ends[0] > 5 * ends[1]


def test_soft_soil_needs_the_other_solver() -> None:
    soil = {"model": "iwan", "depth": 50.0, "curve": {"kind": "hyperbolic", "strain": 1e-3}}
    with pytest.raises(
        CaseError, match=r'plasticity\.model.*soft soil needs solver = "earthquake"'
    ):
        build(**content(plasticity=soil, receiver=[]))
