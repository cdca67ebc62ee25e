"""Attenuation in cases of DG waves: Q of waves, materials, time steps, costs, and `check`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checked import cost, quantities_of, warnings_of
from dgwave_cases import EXPLOSION, build, setup

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError
from groundswell.solvers.dgwave.attenuation import MaxwellBodies
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.verification import attenuation
from groundswell.time_integration.step_limits import LARGEST_DECAY, decay_step, dg_step

pytestmark = pytest.mark.each_value

SEA = {"vp": 1500, "vs": 0, "rho": 1000, "qp": 500, "qs": 7}  # fluids have no use of qs
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500, "qp": 80, "qs": 40}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SEA}, {"top": 200, **ROCK}]}
CONSTANT = {"model": "constant"}
LOSSY: dict[str, Any] = {"medium": {"kind": "homogeneous", **ROCK}, "attenuation": CONSTANT}
OPEN = {"boundary": {"sides": "absorbing", "bottom": "absorbing"}}

# --- waves ----------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three frequencies of the problem."""
    monkeypatch.setattr(attenuation, "FREQUENCIES", np.array([0.1, 1.0, 10.0]))


@pytest.mark.usefixtures("few")
def test_waves_decay_as_their_maxwell_bodies() -> None:
    found = list(attenuation.quality(open_backend("cpu"), False))
    assert len(found) == 16 and [check for check in found if not check.passed] == []


@pytest.mark.usefixtures("few")
def test_the_problem_notices_a_wrong_relaxation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that relax 2 % too fast."""
    of = MaxwellBodies.of

    def wrong(material: Any, relaxation: Any) -> MaxwellBodies:
        return replace(of(material, relaxation), rates=1.02 / relaxation.tau)

    monkeypatch.setattr(MaxwellBodies, "of", wrong)
    found = list(attenuation.quality(open_backend("cpu"), False))
    assert not any(check.passed for check in found if "decay from the fit" in check.name)


# --- materials ------------------------------------------------------------------------------------


def moduli(bodies: MaxwellBodies, omega: float) -> tuple[Any, Any]:
    """M / M_u of P and S waves, written out, (elements,)."""
    relaxed = 1 / (1 + 1j * omega / bodies.rates)
    return 1 - bodies.p @ relaxed, 1 - bodies.s @ relaxed


@pytest.mark.parametrize("reference", [0.3, 4.0])
@pytest.mark.parametrize("mechanisms", [2, 4])
def test_elements_have_the_speeds_and_q_of_the_medium(reference: float, mechanisms: int) -> None:
    """The speeds at the reference frequency; in damping layers as beside them."""
    section = {"model": "constant", "reference": reference}
    changes = {"medium": LAYERS, "attenuation": section, "method__mechanisms": mechanisms}
    found = setup(source=[EXPLOSION], **changes)
    elements = found.partition.elements(1, 0)
    problem = discretise(found, elements)
    fluid = problem.material.vs == 0
    assert problem.bodies is not None and problem.mechanisms == mechanisms
    assert fluid.any() and not fluid.all() and (problem.bodies.s[fluid] == 0).all()
    speeds = (problem.material.vp, problem.material.vs)
    ratios = moduli(problem.bodies, 2 * np.pi * reference)
    for kind, unrelaxed, ratio in zip("ps", speeds, ratios, strict=True):
        slowness = 1 / (unrelaxed[~fluid] * np.sqrt(ratio[~fluid]))
        assert 1 / slowness.real == pytest.approx(ROCK[f"v{kind}"], rel=1e-6)
        q = ratio[~fluid].real / ratio[~fluid].imag
        assert q == pytest.approx(ROCK[f"q{kind}"], rel=found.materials.relaxation.error + 1e-3)
    beyond = problem.sides.beyond
    assert {*beyond.vp.ravel()} == {*problem.material.vp}


def test_without_attenuation_quality_factors_are_ignored() -> None:
    lossless, plain = setup(**{**LOSSY, "attenuation": {"model": "none"}}), setup()
    assert lossless.materials.relaxation is None and lossless.dt == plain.dt
    assert (
        cost(lossless).memory == cost(plain).memory
        and cost(lossless).bytes_per_update == cost(plain).bytes_per_update
    )
    problems = [discretise(s, s.partition.elements(1, 0)) for s in (lossless, plain)]
    assert problems[0].bodies is None and problems[0].mechanisms == 0
    assert (problems[0].material.vp == problems[1].material.vp).all()


def test_mistakes() -> None:
    with pytest.raises(CaseError, match="is required since the medium has qp and qs"):
        build(medium=LOSSY["medium"])
    with pytest.raises(CaseError, match="needs qp and qs in"):
        build(attenuation=CONSTANT)
    for mechanisms, allowed in ((1, "at least 2"), (7, "at most 6"), (2.5, "a whole number")):
        with pytest.raises(CaseError, match=rf"method.mechanisms.*{allowed}"):
            build(**LOSSY, method__mechanisms=mechanisms)


def test_quality_factors_below_all_fits_are_refused() -> None:
    with pytest.raises(InputError, match="smallest Q"):
        setup(**{**LOSSY, "medium": {"kind": "homogeneous", **ROCK, "qs": 3}})


# --- time steps and costs -------------------------------------------------------------------------


def test_steps_resolve_unrelaxed_waves_and_the_fastest_relaxation() -> None:
    slow = setup(**LOSSY, **OPEN)
    [fastest] = {*slow.materials.unrelaxed(np.arange(slow.geometry.forest.count)).vp}
    assert 3000 < fastest < 3300
    assert slow.step_limit.seconds == dg_step((200, 200, 200), fastest, 2)
    high = {"model": "constant", "band": (10, 1000), "reference": 10}
    fast = setup(**{**LOSSY, "attenuation": high}, **OPEN)
    longest = LARGEST_DECAY * fast.materials.relaxation.tau.min()
    assert 0.8 * longest < fast.step_limit.seconds < longest
    assert fast.step_limit.seconds < slow.step_limit.seconds / 5
    assert decay_step(0.0) == np.inf


@pytest.mark.parametrize("band", [(0.5, 20), (1, 40), (10, 1000)])
@pytest.mark.parametrize("flux", ["riemann", "central"])
@pytest.mark.parametrize(
    "boundary", [{"sides": "sponge", "bottom": "sponge", "width": 1}, OPEN["boundary"]]
)
def test_noise_decays(band: Any, flux: Any, boundary: Any) -> None:
    """With the longest step, strong attenuation, and relaxation slower or faster than waves."""
    size = {"grid__size": [200, 200, 200], "source__0__x": 50, "source__0__y": 50}
    place = {"source__0__depth": 50, "receiver": [], "boundary": boundary}
    method = {"method": {"degree": 1, "flux": flux}, "time__duration": 9}
    medium = {"kind": "homogeneous", **ROCK, "qp": 12, "qs": 6}
    model = {"model": "constant", "band": band, "reference": max(1, band[0])}
    case = build(**size, **place, **method, medium=medium, attenuation=model)
    with gs.Simulation(case) as simulation:
        solver: Any = simulation.solver
        shape = solver.propagation.u.shape
        solver.propagation.u[...] = np.random.default_rng(2).standard_normal(shape)
        solver.prepare()
        for _ in range(2000):
            solver.step()
        assert np.abs(solver.propagation.u[:, 6:]).max() < 1
        assert np.isfinite(solver.propagation.memory).all()


@pytest.mark.parametrize(("fluid", "strains", "fields"), [(False, 6, 9), (True, 1, 4)])
def test_costs_of_memory_variables(fluid: bool, strains: int, fields: int) -> None:
    medium = {"kind": "homogeneous", **(SEA if fluid else ROCK)}
    changes: dict[str, Any] = {"medium": medium, "source": [EXPLOSION]}
    lossy = setup(**changes, attenuation=CONSTANT, method__mechanisms=4)
    plain = setup(**changes, attenuation={"model": "none"})
    variables = 4 * strains
    assert cost(lossy).updates_per_step == cost(plain).updates_per_step
    constants = 4 * (1 if fluid else 2)
    assert (
        cost(lossy).memory - cost(plain).memory
        == plain.geometry.count * (2 * variables * 27 + constants) * 4
    )
    more = (4 - 1 / 5) * 4 * variables / fields
    assert cost(lossy).bytes_per_update == pytest.approx(cost(plain).bytes_per_update + more)


def test_checkpoints_hold_the_memory_variables() -> None:
    with gs.Simulation(build(**LOSSY)) as simulation:
        solver: Any = simulation.solver
        count, memory = solver.setup.geometry.forest.count, solver.state()["memory_variables"]
        assert memory.shape == (count, 3, 6, 27) and memory.array is solver.propagation.memory
    with gs.Simulation(build()) as simulation:
        plain: Any = simulation.solver
        assert "memory_variables" not in plain.state()


# --- check ----------------------------------------------------------------------------------------


def test_check_shows_q_and_the_error_of_its_fit() -> None:
    found = {quantity.key: quantity for quantity in quantities_of(setup(**LOSSY))}
    assert found["smallest_q"].value == {"Qp": 80, "Qs": 40}
    assert str(found["smallest_q"]) == "Qp = 80, Qs = 40"
    assert str(found["attenuation_error"]) == "at most 3.7 % from 0.1 to 10 Hz"
    plain = {quantity.key: quantity for quantity in quantities_of(setup())}
    assert plain["attenuation_error"].value is None and plain["attenuation_error"].label == ""


def test_warnings() -> None:
    slow = {"source__0__time_function": {"kind": "gaussian", "sigma": 0.3}, "time__duration": 3}
    assert warnings_of(setup(**LOSSY, **slow)) == []
    narrow = {**LOSSY, "attenuation": {"model": "constant", "band": (0.1, 2)}}
    [warning] = warnings_of(setup(**narrow, **slow))
    assert "the run resolves 3.4 Hz, but Q is fitted up to 2 Hz; widen attenuation.band" in warning
    wide = {**LOSSY, "attenuation": {"model": "constant", "band": (0.001, 10)}}
    [warning] = warnings_of(setup(**wide, **slow))
    assert "Q(f) differs from its target by up to" in warning and "method.mechanisms" in warning
