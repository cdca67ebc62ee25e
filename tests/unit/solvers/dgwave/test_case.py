"""Cases of DG waves: what is said of each mistake and of what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import decomposed
from dgwave_cases import DROP, EXPLOSION, WATER, build, setup
from variants import long_variants

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.dgwave.boundaries.layers import add_profiles
from groundswell.solvers.dgwave.recordable import RECORDABLE
from groundswell.spectral_elements.recording import ElementDomain

pytestmark = pytest.mark.each_value


LAYERS = {
    "kind": "layered",
    "layers": [{"top": 0, **{k: WATER[k] for k in ("vp", "vs", "rho")}},
               {"top": 400, "vp": 3000, "vs": 1700, "rho": 2500}],
}  # fmt: skip
BOX = {"kind": "box", "low": [0, 0, 0], "high": [1, 1, 1]}
LINE = {"kind": "line", "start": [0, 0, 0], "end": [800, 0, 0], "points": 3}


def record(**changes: Any) -> dict[str, Any]:
    entry = {"fields": ["vx"], "where": LINE, "what": "raw", "file": "a.nc"}
    return {"output__record": [entry | changes]}


MISTAKES = [
    ({"method__degree": 0}, "method.degree", "must be at least 1"),
    ({"method__degree": 16}, "method.degree", "must be at most 15"),
    ({"method__degree": 2.5}, "method.degree", "must be a whole number"),
    ({"method__degree": True}, "method.degree", "must be a whole number"),
    ({"method__flux": "upwind"}, "method.flux", 'must be "riemann", "central", or a number from 0'),
    ({"method__flux": 1.1}, "method.flux", "or a number from 0 (central) to 1 (Riemann)"),
    ({"method__flux": -0.1}, "method.flux", "or a number from 0 (central) to 1 (Riemann)"),
    ({"method__flux": True}, "method.flux", 'must be "riemann"'),
    ({"method__flux": [1]}, "method.flux", 'must be "riemann"'),
    ({"method__flux": float("nan")}, "method.flux", 'must be "riemann"'),
    ({"method__equations": "fluid"}, "method.equations", 'must be "auto", "acoustic" or "elastic"'),
    ({"boundary__top": "periodic"}, "boundary.top", 'must be "pml", "sponge", "absorbing", "fre'),
    ({"boundary__sides": "damping"}, "boundary.sides", '"rigid" or "periodic"'),
    ({"boundary__width": 0}, "boundary.width", "at least 1"),
    ({"time__duration": DROP}, "time.duration", "is required"),
    ({"time__step": "1 s"}, "time.step", "at most the duration, 0.1 s"),
    ({"source": []}, "source", "must not be empty"),
    ({"grid__size": [850, 800, 600]}, "grid.size[0]", "nearest: 800 m or 1000 m"),
    ({"grid__spacing": [200, 200, [100, 200]]}, "grid.spacing[2]", "must add up to grid.size[2]"),
    ({"grid__spacing": [200, [], 200]}, "grid.spacing[1]", "must not be empty"),
    ({"grid__spacing": [200, 200, [700, -100]]}, "grid.spacing[2][1]", "greater than 0"),
    ({"grid__spacing": [200, 200, [300, [300]]]}, "grid.spacing[2][1]", "is not a number; give"),
    ({"grid__spacing": [200, [800]]}, "grid.spacing[2]", "the list is too short"),
    ({"output__seismograms": {"interval": 1}}, "output.seismograms.interval", "at most"),
    (record(where=BOX), "output.record[0].where.kind", "points, line or plane"),
    (record(where={"kind": "all"}), "output.record[0].where.kind", "points, line or plane"),
    (record(fields=["T"]), "output.record[0].fields[0]", "must be p, vx"),
    (record(file="seismograms.h5"), "output.record[0].file", ""),
    ({"run__processes": [2, 1, 1]}, "run.processes", "is not for this solver; leave it out"),
    ({"run__lossy": "zfp16"}, "run.lossy", "is not for this solver; leave it out"),
    ({"run__codec": "zfp16"}, "run.codec", 'auto, none or mpc; to send fewer bits, set'),
    ({"run__codec": "zfp"}, "run.codec", "must be auto, none or mpc; to send fewer bits, set"),
    ({"run__narrow": "float32"}, "run.narrow", 'must be "bfloat16" where precision = "single"'),
    ({"attenuation": {"model": "constant"}}, "attenuation.model", "needs qp and qs in [medium]"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "allowed"), MISTAKES)
def test_each_mistake_is_one_problem(changes: dict[str, Any], key: str, allowed: str) -> None:
    with pytest.raises(CaseError) as caught:
        build(**changes)
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed


MISFITS = [
    (
        {"medium": WATER},
        r"source\[0\] lies in a fluid, but its .* not isotropic \(the first .* 310 m\); use",
    ),
    (
        {"medium": WATER, "method__equations": "elastic"},
        "lies in a fluid, but its moment tensor is n",
    ),
    ({"medium": LAYERS}, "lies in a fluid, but its moment"),
    (
        {"method__equations": "acoustic"},
        'equations = "acoustic", but parts of the medium are solid',
    ),
    ({"time__step": 0.05}, r"time.step = 0.05 s is unstable: the limit is 0.00"),
    ({"time__step": 0.005, "output__seismograms": {"interval": 0.007}}, "not a whole number of st"),
    ({"source__0__x": 900}, r"source\[0\]\.x = 900: lies outside the region"),
]


@pytest.mark.parametrize(("changes", "message"), MISFITS)
def test_what_does_not_fit_is_told(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        setup(**changes)


# A soft upper half, in which elements are halved.
SOFT = {"top": 0, "vp": 1500, "vs": 500, "rho": 2000}
ROCK = {"top": 400, "vp": 3000, "vs": 1700, "rho": 2000}
HALVED = {"refinement": {"frequency": 1.5, "levels": 1}}
CENTRAL = {"medium": {"kind": "layered", "layers": [SOFT, ROCK]}, "method__flux": "central"}
DISSIPATIVE: list[dict[str, Any]] = [
    CENTRAL,
    CENTRAL | HALVED | {"method__flux": 0.5},
    CENTRAL | HALVED | {"boundary__sides": "sponge", "boundary__bottom": "sponge"},
]


def test_waves_must_not_grow_in_matched_layers_beside_halved_elements() -> None:
    message = "method.flux = central: with matched layers and halved elements, waves"
    with pytest.raises(InputError, match=message):
        setup(**CENTRAL, **HALVED)
    for changes in DISSIPATIVE:
        setup(**changes)


def test_fields_of_other_equations_are_not_recorded(tmp_path: Path) -> None:
    acoustic = {"medium": WATER, "source": [EXPLOSION]}
    for changes, field in (({}, "p"), (acoustic, "sxx")):
        case = build(tmp_path, **changes, **record(fields=[field]))
        with pytest.raises(InputError, match=f'equations have no "{field}"; use '):
            gs.run(case, folder=tmp_path / "results")


BESIDE = {"kind": "points", "positions": [[100, 100, 50], [900, 2000, 50]]}
ABOVE = {"kind": "plane", "normal": "z", "at": -100, "points": [3, 3]}
SLOPE = {"kind": "formula", "elevation": "0.05 * x"}


@pytest.mark.parametrize("where", [BESIDE, ABOVE, BESIDE | {"positions": [[750, 400, -60]]}])
@pytest.mark.parametrize("changes", [{}, {"topography": SLOPE}, {"refinement": {"frequency": 9}}])
def test_records_outside_the_mesh_are_refused_before_a_run(where: Any, changes: Any) -> None:
    """With the message of the run's own elements, also where the check uses coarser ones."""
    bare = setup(**changes).geometry
    elements = np.arange(bare.count)
    domain = ElementDomain(SerialCommunicator(), bare.hexahedra, bare.degree, elements)
    section = build(**record(where=where)).output.record[0]
    with pytest.raises(InputError, match="lie outside the mesh, the first") as expected:
        domain.select(section.where, [RECORDABLE["vx"]])
    with pytest.raises(InputError) as found:
        setup(**changes, **record(where=where))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("x", "accepted"), [*long_variants([(1200 + 3e-7, True)]), (1200.00001, False)]
)
def test_checks_and_runs_accept_the_same_records(tmp_path: Path, x: float, accepted: bool) -> None:
    """Although elements of the run are smaller than the brick that checks use."""
    where = {"kind": "points", "positions": [[x, 400, 300]]}
    case = build(tmp_path, refinement={"frequency": 9}, **record(where=where))
    if accepted:
        gs.check(case)
        gs.run(case, folder=tmp_path / "results")
        return
    message = r"first is \(1200.00001, 400, 300\) m; the mesh has elements within x -400 to 1200,"
    with pytest.raises(InputError, match=message):
        gs.check(case)
    with pytest.raises(InputError, match=message):
        gs.run(case, folder=tmp_path / "results")


def test_records_in_layers_and_below_hills_are_accepted() -> None:
    places = [[-350, 1150, 1000], [-400, -400, 0], [800, 800, 600]]
    setup(**record(where={"kind": "points", "positions": places}))
    places = [[750, 400, -37], [0, 400, 0], [400, -400, 599]]
    setup(topography=SLOPE, **record(where={"kind": "points", "positions": places}))
    with pytest.raises(InputError, match="begins at step 1000, but the run has"):
        setup(**record(**{"from": 1000}))


def test_more_ranks_than_elements_are_refused() -> None:
    few = setup(boundary__sides="periodic", boundary__bottom="rigid")
    assert decomposed(few, 48).ranks == 48
    with pytest.raises(InputError, match="48 elements cannot be divided among 49 ranks; use at"):
        decomposed(few, 49)


def test_profiles_along_all_axes_add_up() -> None:
    """Equal sums are stored once, and none for elements outside of layers."""
    profiles = np.random.default_rng(1).uniform(0, 1, (3, 3))
    rows = np.array([[0, -1, 2], [-1, -1, -1], [-1, 1, 0], [0, -1, 2]], np.int32)
    found, sums = add_profiles(rows, profiles)
    assert found.dtype == np.int32 and found[1] == -1 and found[0] == found[3] and len(sums) == 2
    x, y, z = profiles
    first, other = sums[found[[0, 2]]].reshape(2, 3, 3, 3)
    assert np.array_equal(first, np.broadcast_to(x + z[:, None, None], (3, 3, 3)))
    assert np.array_equal(other, np.broadcast_to(y[:, None] + x[:, None, None], (3, 3, 3)))
    none, empty = add_profiles(rows[1:2], profiles)
    assert none.tolist() == [-1] and empty.shape == (0, 27)
