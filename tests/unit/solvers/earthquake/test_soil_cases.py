"""Cases with soft soil: which cells yield, what is refused, what check says, and resumed runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from earthquake_cases import only_problem
from small_soil import FORCE, LAYERS, REGION, ROWS, SPACING, advanced, soil_case
from split_nodes import FAULT

from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.grids.cartesian import GHOSTS, Part
from groundswell.simulation.checkpoint import NAME, Progress, read_progress, restore, save
from groundswell.solvers.earthquake.check import quantities, warnings
from groundswell.solvers.earthquake.cost import decompose, device_bytes, estimate
from groundswell.solvers.earthquake.plasticity.soil_model import SoilModel
from groundswell.solvers.earthquake.setup import Setup, prepare
from groundswell.solvers.earthquake.solver import Earthquake

CPU = open_backend("cpu")
MOMENT = {"kind": "explosion", "moment": 1e9, "x": 200.0, "y": 110.0, "depth": 20.0}
LOSSY = [{**layer, "qp": 60.0, "qs": 30.0} for layer in LAYERS]


def soil_of(setup: Setup) -> SoilModel:
    assert setup.soil is not None
    return setup.soil


def test_cells_above_the_depth_yield_but_the_last_ones() -> None:
    """Those whose centres are above it; next to a layer, edges would lie in the layer."""
    soil = soil_of(prepare(soil_case({"depth": 34.0})))
    assert soil.layer.cells == (*REGION[:2], 3)
    wanted = np.zeros(REGION[1::-1], bool)
    wanted[:-1, :-1] = True
    for k in range(3):
        assert np.array_equal(soil.may_yield(k), wanted)
    strains = soil.reference_strains(0)
    assert (strains[wanted] == 1e-5).all() and np.isinf(strains[~wanted]).all()
    periodic = soil_of(prepare(soil_case(boundary={"sides": "periodic", "width": 5})))
    assert periodic.may_yield(0).all()


def test_fast_cells_and_those_around_moments_do_not_yield() -> None:
    case = soil_case(
        {"vs_limit": 500.0},
        source=[MOMENT | {"time_function": FORCE["time_function"]}],
    )
    soil = soil_of(prepare(case))
    yields = np.array([soil.may_yield(k) for k in range(ROWS)])
    # Soft down to 47 m; the moment spares cells up to 2.5 cells from their centres.
    assert yields[:5, 0].any(axis=1).all() and not yields[5:].any()
    x, y, z = (np.arange(n) * SPACING + SPACING / 2 for n in (*REGION[:2], ROWS))
    near = (
        (np.abs(z - 20) <= 25)[:, None, None]
        & (np.abs(y - 110) <= 25)[:, None]
        & (np.abs(x - 200) <= 25)
    )
    assert np.array_equal(yields[:5, :-1, :-1], ~near[:5, :-1, :-1])


def test_reference_strains_and_curves_vary() -> None:
    curve = {"strain": [1e-5, 1e-4, 1e-3], "modulus": [0.95, 0.6, 0.2]}
    given = {
        "reference_strain": {"by": "depth", "at": [0.0, 20.0], "values": [1e-4, 3e-4]},
        "soil": [
            {"top": 20.0, "curve": "darendeli", "plasticity_index": 30.0},
            {"top": 40.0, "curve": curve},
        ],
    }
    soil = soil_of(prepare(soil_case(given)))
    assert [soil.number(k) for k in range(ROWS)] == [0, 0, 1, 1, 2, 2]
    found = np.array([soil.reference_strains(k)[0, 0] for k in range(ROWS)])
    np.testing.assert_allclose(found[:2], [1.5e-4, 2.5e-4])
    # Dry soil of 1,900 kg/m^3 at depths of 25 and 35 m; horizontal stresses are half the weight.
    pressure = 2 / 3 * 9.81 * 1900 * np.array([25.0, 35.0]) / 101325
    np.testing.assert_allclose(found[2:4], 1e-2 * (0.0352 + 0.03) * pressure**0.3483, rtol=1e-12)
    assert found[4] == found[5] == pytest.approx(1.65e-4, rel=0.15)


def test_soil_has_no_attenuation() -> None:
    """Nor the moduli of attenuation; deeper and faster cells have it."""
    model = {"attenuation": {"model": "constant"}}
    medium = {"kind": "layered", "layers": LOSSY}
    lossy, soft = (
        prepare(soil_case(plasticity=soil, medium=medium, **model)).ground
        for soil in (None, soil_case({"vs_limit": 500.0}).plasticity)
    )
    elastic = prepare(soil_case()).ground
    for k in range(5):
        found = soft.padded_plane(k)
        assert (found["inverse_qs"] == 0).all() and (found["inverse_qp"] == 0).all()
        for name in ("rho", "lam", "compliance"):
            np.testing.assert_allclose(found[name], elastic.padded_plane(k)[name], rtol=1e-12)
    for k in range(5, 5 + GHOSTS):
        for name, values in soft.padded_plane(k).items():
            assert np.array_equal(values, lossy.padded_plane(k)[name])


REFUSED = [
    ({"depth": 2.0}, {}, "must be between the centre of the uppermost cells, 5 m, and the bottom"),
    ({"depth": 1e4}, {}, "must be between the centre of the uppermost cells"),
    ({"reference_strain": "1e-4 - depth"}, {}, "reference_strain = -4.9999"),
    ({"fluid_pressure": 1e7} | {"curve": "darendeli"}, {}, "needs compression"),
    (
        {},
        {"medium": {"kind": "layered", "layers": [{**LAYERS[0], "vs": 0.0}, LAYERS[1]]}},
        "not available with a fluid",
    ),
]


@pytest.mark.parametrize(("soil", "sections", "message"), REFUSED)
def test_refused(soil: dict[str, Any], sections: dict[str, Any], message: str) -> None:
    if "curve" in soil:
        soil = {"reference_strain": None, **soil}
    with pytest.raises(InputError, match=message):
        prepare(soil_case(soil, **sections))


def test_a_fault_in_soil_is_refused() -> None:
    given = {
        "time": {"duration": 0.25},
        "grid": {"size": [1200.0, 1200.0, 800.0], "spacing": 50.0},
        "medium": {"kind": "homogeneous", "vp": 6000.0, "vs": 3464.0, "rho": 2670.0},
        "source": [],
    }
    with pytest.raises(InputError, match="move its upper end to a depth of at least 250 m"):
        prepare(soil_case({"depth": 150.0}, fault=[FAULT], **given))
    deep = {**FAULT, "plane": {**FAULT["plane"], "depth": [250.0, 500.0]}}
    assert prepare(soil_case({"depth": 150.0}, fault=[deep], **given)).soil


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"reference_strain": None}, "plasticity.reference_strain", "is required for the curve"),
    ({"curve": "darendeli"}, "plasticity.reference_strain", 'belongs to curve = "hyperbolic"'),
    ({"plasticity_index": 10.0}, "plasticity.plasticity_index", 'belongs to curve = "darendeli"'),
    ({"curve": "steep"}, "plasticity.curve", 'must be "hyperbolic", "darendeli" or a table'),
    ({"surfaces": 1}, "plasticity.surfaces", ""),
    ({"vs_limit": 0.0}, "plasticity.vs_limit", ""),
    ({"reference_strain": -1.0}, "plasticity.reference_strain", "greater than 0"),
    ({"soil": [{"top": 5.0}]}, "plasticity.soil[0].reference_strain", "is required"),
    (
        {"soil": [{"top": 9.0, "reference_strain": 1e-4}] * 2},
        "plasticity.soil[1].top",
        "must be more than the top before it",
    ),
    (
        {"reference_strain": None, "curve": {"strain": [1e-5, 1e-6], "modulus": [0.9, 0.8]}},
        "plasticity.curve.strain[1]",
        "must be more than the entry before it",
    ),
    (
        {"reference_strain": None, "curve": {"strain": [1e-6, 1e-5], "modulus": [0.8, 0.9]}},
        "plasticity.curve.modulus[1]",
        "must be at most 0.8",
    ),
]


@pytest.mark.parametrize(("soil", "key", "message"), MISTAKES)
def test_mistakes(soil: dict[str, Any], key: str, message: str) -> None:
    content = soil_case().model_dump(exclude_unset=True)
    content["plasticity"] = {**content["plasticity"], **soil}
    problem = only_problem(content)
    assert problem.key == key and message in str(problem)


def test_check_tells_of_the_soil() -> None:
    setup = prepare(soil_case({"vs_limit": 500.0, "surfaces": 10}))
    named = {each.key: each for each in quantities(setup, estimate(setup))}
    soil = soil_of(setup)
    cells = sum(int(soil.may_yield(k).sum()) for k in range(ROWS))
    assert named["soil_cells"].value == cells
    assert named["plasticity_model"].value == "iwan"
    assert named["reference_strain"].value == [1e-5, 1e-5]
    low, high = named["soil_strain"].value
    assert low == pytest.approx(1e-5 * soil.elements[0].strains[0]) and high == pytest.approx(3e-4)
    slowest = min(float(np.min(soil.layer.medium.plane(k).vs)) for k in range(4))
    wanted = slowest / np.sqrt(2) / (6 * SPACING)
    assert named["soil_frequency"].value == pytest.approx(wanted)
    assert named["soil_backbone_error"].value == soil.elements[0].error


def test_warnings_of_the_soil() -> None:
    coarse = warnings(prepare(soil_case({"surfaces": 4})))
    assert any("raise plasticity.surfaces" in text for text in coarse)
    strong = warnings(prepare(soil_case({"vs_limit": 100.0})))
    assert any("S waves slower than plasticity.vs_limit" in text for text in strong)
    slow = {**FORCE, "time_function": {"kind": "gaussian", "sigma": 0.07}}
    resolved = prepare(soil_case(source=[slow], time={"duration": 3.0}))
    frequencies = resolved.ground.resolved_frequency, resolved.survey.frequency
    assert 1 / np.sqrt(2) < frequencies[1] / frequencies[0] < 1
    assert any("in soil at its reference strain" in text for text in warnings(resolved))


def test_memory_and_traffic_are_those_of_the_arrays() -> None:
    linear, soft = (prepare(soil_case(plasticity=p)) for p in (None, soil_case().plasticity))
    added = np.diff([device_bytes(setup, Part.whole(setup.grid)) for setup in (linear, soft)])[0]
    solver = Earthquake(soft, CPU)
    soil: Any = solver.rheology
    arrays = [soil._elements, soil.strain.array, *soil._counts.values(), *soil._parts]
    arrays += [*(field.array for field in soil._lost.values()), soil._tables_on_device["reference"]]
    assert added == pytest.approx(sum(array.nbytes for array in arrays), rel=0.1)  # padding
    assert estimate(soft).bytes_per_update > estimate(linear).bytes_per_update
    assert decompose(soft, 2).memory


def test_blocks_that_cut_the_soil_are_refused() -> None:
    """It has 6 of 19 depth rows."""
    run = {"processes": [1, 1, 4]}
    with pytest.raises(InputError, match="a block must contain the soft soil"):
        decompose(prepare(soil_case(run=run)), 4)
    assert decompose(prepare(soil_case(run={"processes": [1, 1, 2]})), 2).memory


def test_a_run_resumes_bit_by_bit(tmp_path: Path) -> None:
    case = soil_case({"reference_strain": 1e-6})
    first = advanced(case, 40)
    save(tmp_path / NAME, CPU, first.state(), Progress(40, "digest", {}))
    then = Earthquake(prepare(case), CPU)
    restore(tmp_path / NAME, CPU, then.state(), read_progress(tmp_path / NAME, "digest"))
    for solver in (first, then):
        solver.backend.capture(solver.step).replay(40)
    assert first.fields["plastic_strain"].interior.max() > 1e-7
    for name, field in first.fields.items():
        assert field.interior.tobytes() == then.fields[name].interior.tobytes(), name
