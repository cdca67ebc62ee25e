"""Rock that yields, in whole runs: what changes nothing, what a run leaves, and what is refused."""

from __future__ import annotations

import signal
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import cost, quantities_of, warnings_of
from result_comparison import assert_same_results, result_arrays
from split_nodes import FAULT
from split_nodes import GIVEN as WITH_FAULT
from symmetries import horizontal

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.case.quantities import as_values
from groundswell.errors import CaseError, InputError, Interrupted
from groundswell.grids.cartesian import Part
from groundswell.simulation import run as running
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.plasticity.cells import RockCells
from groundswell.solvers.earthquake.plasticity.tiles import TILE
from groundswell.solvers.earthquake.setup import prepare

SOFT = {"vp": 1500.0, "vs": 600.0, "rho": 2000.0, "qp": 40.0, "qs": 20.0}
HARD = {"vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100.0, "qs": 50.0}
LAYERS = [{"top": 0.0, **SOFT}, {"top": 310.0, **HARD}]
ROCK: dict[str, Any] = {
    "model": "drucker-prager",
    "cohesion": {"by": "vs", "at": ["600 m/s", "2.3 km/s"], "values": ["20 kPa", "1 MPa"]},
    "friction_angle": 5.0,
    "relaxation_time": "0.02 s",
}
STRONG = {**ROCK, "cohesion": 1e30}
MUD = {"name": "mud", "cohesion": 1e3, "friction_angle": 1.0}
GIVEN: dict[str, Any] = {
    "time": {"duration": 0.8},
    "grid": {"size": [2000.0, 1500.0, 900.0], "spacing": 50.0},
    "medium": {"kind": "layered", "layers": LAYERS},
    "attenuation": {"model": "none"},
    "boundary": {"width": 5},
    "source": [
        {"kind": "double-couple", "strike": 35, "dip": 70, "rake": 60, "moment": 1e15}
        | {"x": 900.0, "y": 800.0, "depth": 600.0}
        | {"time_function": {"kind": "gaussian", "sigma": 0.05}}
    ],
    "receiver": [{"name": "A", "x": 1300.0, "y": 500.0}],
}


def ran(folder: Path, **changes: Any) -> Any:
    return gs.run(EarthquakeCase(**{**GIVEN, **changes}), folder=folder, quiet=True)


# --- what changes nothing -------------------------------------------------------------------------

LOSSY = {"attenuation": {"model": "constant"}}
STORED = {**LOSSY, "run": {"memory": "half", "materials": "classes"}}
BREAKS = {**WITH_FAULT, "fault": [FAULT]}


@pytest.mark.most(2)
@pytest.mark.parametrize(
    "changes",
    [{}, LOSSY, STORED, {**WITH_FAULT, **GIVEN, **BREAKS}],
    ids="elastic lossy stored fault".split(),
)
def test_strong_rock_gives_the_bits_of_rock_that_does_not_yield(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    ran(tmp_path / "a", **changes)
    found = ran(tmp_path / "b", **changes, plasticity=STRONG)
    assert found.summary["findings"]["largest_plastic_strain"] == 0
    (tmp_path / "b" / "plastic_strain.nc").unlink()
    assert_same_results(tmp_path / "b", tmp_path / "a")


@pytest.mark.most(2)
@pytest.mark.parametrize("changes", [{}, STORED, BREAKS], ids="elastic stored fault".split())
def test_a_resumed_run_gives_the_same_bits(tmp_path: Path, changes: dict[str, Any]) -> None:
    weak = {**ROCK, "cohesion": "1 MPa", "relaxation_time": 0.0} if changes is BREAKS else ROCK
    records = [{"fields": ["plastic_strain"], "what": ["raw"], "every": 5, "file": "strain.nc"}]
    records[0]["where"] = {"kind": "plane", "normal": "z", "at": 100.0}  # type: ignore[assignment]
    changes = {**changes, "plasticity": weak, "output": {"record": records}}
    found = ran(tmp_path / "whole", **changes)
    assert found.summary["findings"]["yielded_volume"] > 0

    def stop(step: int, updates: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr(running, "progress", lambda *_, **__: nullcontext(stop))
        ran(tmp_path / "parts", **changes)
    again = gs.run(
        EarthquakeCase(**{**GIVEN, **changes}), folder=tmp_path / "parts", resume=True, quiet=True
    )
    assert 0 < again.summary["resumed_at"] < again.summary["steps"]
    assert_same_results(tmp_path / "parts", tmp_path / "whole")


# --- what a run leaves ----------------------------------------------------------------------------


def test_results_of_rock_that_yields(tmp_path: Path) -> None:
    records = [{"fields": ["plastic_strain"], "what": ["final"], "file": "final.nc"}]
    records[0]["where"] = {"kind": "all"}  # type: ignore[assignment]
    found = ran(tmp_path, plasticity=ROCK, output={"record": records})
    strain = found.records["final.nc"].plastic_strain_final.values.reshape(18, 30, 40)
    assert np.array_equal(found.plastic_strain.plastic_strain, strain[0])
    values = found.summary["findings"]
    assert values["largest_plastic_strain"] == strain.max() > 0
    assert values["yielded_volume"] == pytest.approx((strain > 0).sum() * 50.0**3)
    assert 0.01 < (strain > 0).mean() < 0.5


def test_yield_limits_the_motion(tmp_path: Path) -> None:
    """Weaker rock dissipates more: less motion far from the source, more plastic strain."""
    found = []
    for factor in (1e3, 1.0, 0.25):
        cohesion = {**ROCK["cohesion"], "values": [factor * 2e4, factor * 1e6]}
        rock = {**ROCK, "cohesion": cohesion, "friction_angle": 0.0}
        result = ran(tmp_path / f"{factor}", plasticity=rock)
        motion = np.abs(result.seismograms.values).max()
        found.append((motion, result.summary["findings"]["largest_plastic_strain"]))
    motion, strain = np.array(found).T
    assert (np.diff(motion) < 0).all() and (np.diff(strain) > 0).all()


def test_rock_yields_where_a_fault_stretches_it_and_slows_the_slip(tmp_path: Path) -> None:
    tensor = dict.fromkeys(("xx", "yy", "zz"), -120e6) | {"xy": 70e6, "xz": 0.0, "yz": 0.0}
    weak = {**ROCK, "cohesion": "12 MPa", "friction_angle": 30.0, "stress": {"tensor": tensor}}
    weak["relaxation_time"] = 0.0
    broken = {**WITH_FAULT, "fault": [{**FAULT, "stress": {"tensor": tensor}}]}
    records = [{"fields": ["plastic_strain"], "what": ["final"], "file": "final.nc"}]
    records[0]["where"] = {"kind": "all"}  # type: ignore[assignment]
    elastic = gs.run(EarthquakeCase(**broken), folder=tmp_path / "a", quiet=True)
    case = EarthquakeCase(**broken, plasticity=weak, output={"record": records})
    found = gs.run(case, folder=tmp_path / "b", quiet=True)
    assert found.fault.peak_rate.max() < 0.9 * elastic.fault.peak_rate.max()
    strain = found.records["final.nc"].plastic_strain_final
    away = strain.mean(("z", "x"))
    assert float(away.sel(y=slice(400, 750)).sum()) > 0.9 * float(away.sum()) > 0
    # South of a right-lateral fault, the rock moves west: it is stretched in the east.
    south, north = (strain.sel(y=y, method="nearest").mean("z") for y in (525.0, 625.0))
    for side, (stretched, pressed) in ((south, (700, 500)), (north, (500, 700))):
        near = {x: float(np.abs(side.sel(x=slice(x - 200, x + 200))).sum()) for x in (500, 700)}
        assert near[stretched] > 3 * near[pressed]


def test_moments_do_not_yield(tmp_path: Path) -> None:
    """Rock without strength everywhere would undo the source; the cells around it keep it."""
    setup = prepare(EarthquakeCase(**{**GIVEN, "plasticity": ROCK}))
    assert setup.plasticity is not None
    spared = [setup.plasticity.spared(k) for k in range(18)]
    rows = [k for k, mask in enumerate(spared) if mask is not None]
    assert rows == [9, 10, 11, 12, 13, 14]  # the source is between rows 11 and 12
    centres = 50 * (np.arange(40) + 0.5)
    near = np.abs(centres - 900) <= 125
    assert np.array_equal(spared[11].any(axis=0), near)  # type: ignore[union-attr]
    assert np.array_equal(
        spared[11].any(axis=1),
        np.abs(50 * (np.arange(30) + 0.5) - 800) <= 125,  # type: ignore[union-attr]
    )


# --- symmetries -----------------------------------------------------------------------------------


@pytest.mark.each_value
@pytest.mark.parametrize("symmetry", list(horizontal()), ids=str)
def test_a_mirrored_or_turned_problem_gives_the_mirrored_or_turned_answer(symmetry: Any) -> None:
    """An explosion, and an initial stress whose horizontal shear turns with the axes."""
    size = (1600.0, 1200.0, 800.0)
    tensor = np.diag([-3e4, -2e4, -2.5e4])
    tensor[0, 1] = tensor[1, 0] = 4e3
    tensor[0, 2] = tensor[2, 0] = 2e3
    tensor[1, 2] = tensor[2, 1] = -1e3

    def strain(sizes: Any, place: Any, stress: Any) -> Any:
        names = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
        given = {name: f"{float(stress[at])!r} * depth" for name, at in names.items()}
        rock = {**ROCK, "cohesion": 2e4, "friction_angle": 20.0, "stress": {"tensor": given}}
        x, y, z = (float(a) for a in place)
        source = {"kind": "explosion", "moment": 1e15, "x": x, "y": y, "depth": z}
        source["time_function"] = {"kind": "gaussian", "sigma": 0.05}
        changes = {"grid": {"size": list(sizes), "spacing": 100.0}, "receiver": []}
        changes |= {
            "boundary": {"width": 10},
            "source": [source],
            "run": {"precision": "double"},
            "plasticity": rock,
        }
        solver = Earthquake(prepare(EarthquakeCase(**{**GIVEN, **changes})), open_backend("cpu"))
        for _ in range(40):
            solver.step()
        return solver.snapshot("plastic_strain")

    place = np.array([700.0, 500.0, 450.0])
    straight = strain(size, place, tensor)
    turned = strain(
        symmetry.of_lengths(size), symmetry.of_points(place, size), symmetry.of_tensor(tensor)
    )
    assert straight.max() > 1e-5
    # Layers end after a face on one side, before one on the other. Without yield, mirrored motion
    # differs by 1.3e-7 of the largest for this reason.
    error = np.abs(turned - symmetry.of_array(straight)).max()
    assert error < 2e-6 * straight.max()


# --- check ----------------------------------------------------------------------------------------


def test_check_lists_the_rock_and_what_it_costs() -> None:
    plain, rock = (prepare(EarthquakeCase(**{**GIVEN, **p})) for p in ({}, {"plasticity": ROCK}))
    values = as_values(quantities_of(rock))
    assert values["cohesion"] == [20e3, 1e6] and values["friction_angle"] == [5.0, 5.0]
    assert values["relaxation_time"] == 0.02 and values["initial_load"] == 0
    assert cost(rock).bytes_per_update - cost(plain).bytes_per_update == pytest.approx(24)
    cells = rock.layout.size
    assert cost(rock).memory - cost(plain).memory == pytest.approx(10 * cells, rel=0.01)
    assert not [text for text in warnings_of(rock) if "strength" in text]


def test_check_warns_of_rock_that_yields_before_the_waves() -> None:
    wrong = {**ROCK, "stress": {"ratio": 0.2}}
    found = warnings_of(prepare(EarthquakeCase(**{**GIVEN, "plasticity": wrong})))
    assert any("the initial shear stress exceeds the strength" in text for text in found)


def test_check_warns_of_a_fault_in_rock_of_another_stress() -> None:
    found = warnings_of(prepare(EarthquakeCase(**WITH_FAULT, plasticity=ROCK)))
    assert any("the stress on fault[0] (main) differs from that of the" in text for text in found)


@pytest.mark.parametrize("changes", [BREAKS, {}], ids=["fault", "sea"])
def test_tiles_that_are_always_searched(changes: dict[str, Any]) -> None:
    """Beside faults and with fluids, stresses change after their largest values are known."""
    water = {"top": 0.0, "vp": 1500.0, "vs": 0.0, "rho": 1000.0, "qp": 1e4, "qs": 1e4}
    sea = {"medium": {"kind": "layered", "layers": [water, {"top": 200.0, **HARD}]}}
    setup = prepare(EarthquakeCase(**{**GIVEN, **(changes or sea), "plasticity": ROCK}))
    part = Part.whole(setup.grid)
    assert setup.plasticity is not None
    planes = [fault.plane for fault in setup.faults]
    limits = RockCells(setup.plasticity, part, setup.dtype, planes).limits
    finite = np.isfinite(limits)
    if not changes:
        assert finite.any() and (limits[finite] == 0).all()
        return
    first, count = planes[0].box
    around = np.zeros(limits.shape, bool)
    for k in range(first[2] - 1, first[2] + count[2] + 1):
        for j in range(first[1] - 1, first[1] + count[1] + 1):
            tiles = [i // TILE + 1 for i in range(first[0] - 1, first[0] + count[0] + 1)]
            around[max(k, -1) + 1, j + 1, tiles] = True
    assert (limits[around & finite] == 0).all() and (limits[~around & finite] > 0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"output": {"volumes": {"interval": 0.1, "fields": ["plastic_strain"]}}},
            "output.volumes",
        ),
        (
            {
                "plasticity": {
                    **ROCK,
                    "material": [{"name": "a", "cohesion": 1, "friction_angle": 1}],
                }
            },
            "plasticity.material[0]: needs a medium whose materials have names",
        ),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError) as error:
        EarthquakeCase(**{**GIVEN, **changes})
    assert message in str(error.value)


def test_values_are_checked_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"plasticity\.cohesion = -"):
        ran(tmp_path / "never", plasticity={**ROCK, "cohesion": "1e3 - x"})
    assert not result_arrays(tmp_path)


@pytest.mark.parametrize(
    ("stress", "is_endless"), [({"ratio": 1.0}, False), ({"ratio": 0.8}, True)]
)
def test_waves_of_rock_that_is_sheared_before_them_may_grow(
    stress: dict[str, float], is_endless: bool
) -> None:
    """It has energy to give when it yields."""
    setup = prepare(EarthquakeCase(**GIVEN, plasticity={**ROCK, "stress": stress}))
    found = Earthquake(setup, open_backend("cpu"))
    assert np.isinf(found.sources_end) == is_endless
