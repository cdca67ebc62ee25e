"""Strain Green tensors of DG waves: strain from stress and memory variables, loads, and runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from result_comparison import result_arrays

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.seismology.problems.green import GreenProblem, largest_error, synthetics
from groundswell.solvers.dgwave import DgWaveCase
from groundswell.solvers.dgwave.recording.green import (
    Pairs,
    _factors,
    find_loads,
    strain_rows,
)
from groundswell.solvers.dgwave.setup import prepare
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.solvers.dgwave.source_loads import interpolation_load
from groundswell.solvers.dgwave.verification.simulation import make_case

FIELDS = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]  # of the stress
TENSORS = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
POSITIONS = [[390.0, 420.0, 310.0], [610.0, 280.0, 180.0]]
STATION = [700.0, 610.0, 0.0]
LAYERS = [
    {"top": 0.0, "vp": 3200.0, "vs": 1800.0, "rho": 2300.0, "qp": 80.0, "qs": 40.0},
    {"top": 500.0, "vp": 3500.0, "vs": 2000.0, "rho": 2500.0, "qp": 100.0, "qs": 50.0},
]
DT = 0.0048  # s
SECTIONS: dict[str, Any] = {
    "grid": {"size": [1000.0, 1000.0, 750.0], "spacing": 250.0},
    "time": {"duration": 0.95, "step": DT},
    "medium": {"kind": "layered", "layers": LAYERS},
    "attenuation": {"model": "constant"},
    "method": {"degree": 3},
    "boundary": {"sides": "absorbing"},
}


def force_case(**changes: Any) -> dict[str, Any]:
    pulse = {"kind": "gaussian", "sigma": 0.05}
    place = dict(zip(("x", "y", "depth"), STATION, strict=True))
    source = {"kind": "force", "force": [0.0, 1e10, 0.0], "time_function": pulse, **place}
    recorded = {"station": "S", "positions": POSITIONS, **changes.pop("recorded", {})}
    output = {"shaking_map": False, "strain_green_tensor": recorded}
    run = {"precision": "double"}
    return {
        "solver": "dgwave",
        **SECTIONS,
        "source": [source],
        "output": output,
        "run": run,
    } | changes


@pytest.fixture(scope="module")
def setup() -> Any:
    return prepare(DgWaveCase.from_dict(force_case()))


# --- strain ---------------------------------------------------------------------------------------


def test_strain_follows_from_stress_and_memory_variables(setup: Any) -> None:
    """Of a random strain and random memory variables, by Hooke's law with whole tensors."""
    rng, elements = np.random.default_rng(1), np.array([0, setup.geometry.count - 1])
    factors = _factors(setup.materials, elements)
    material, bodies = setup.materials.unrelaxed(elements), setup.materials.bodies(elements)
    for n in range(2):
        rho, vp, vs = (float(getattr(material, name)[n]) for name in ("rho", "vp", "vs"))
        modulus, mu = rho * vp**2, rho * vs**2

        def hooke(p: float, s: float, strain: Any) -> Any:
            return (p - 2 * s) * np.trace(strain) * np.eye(3) + 2 * s * strain

        strain, *memory = (a + a.T for a in rng.normal(size=(1 + bodies.mechanisms, 3, 3)))
        fractions = 1 - bodies.p[n].sum(), 1 - bodies.s[n].sum()
        stress = hooke(modulus * fractions[0], mu * fractions[1], strain)
        for p, s, rate, theta in zip(bodies.p[n], bodies.s[n], bodies.rates, memory, strict=True):
            stress = stress + hooke(p * modulus, s * mu, theta) / rate
        engineering = [np.where(np.eye(3), theta, 2 * theta) for theta in memory]
        fields = np.array([[field[at] for at in FIELDS] for field in (stress, *engineering)])
        found = np.einsum("gtc,gc->t", factors[n], fields)
        exact = [strain[at] * (1 if at[0] == at[1] else 2) for at in TENSORS]
        assert found == pytest.approx(np.array(exact), rel=1e-9)


def test_loads_add_up_to_one_and_rows_have_all_of_them(setup: Any) -> None:
    points, everyone = setup.green.points, np.arange(setup.geometry.count)
    pairs, weights = find_loads(setup.materials, points, everyone)
    for point in range(len(points)):
        own = [of for (n, _), of in weights.items() if n == point]
        assert np.sum(own) == pytest.approx(1, abs=1e-9) and len(own) > 1
    rows = strain_rows(setup.materials, points, pairs)
    terms = 6 * (1 + setup.materials.mechanisms)
    counts = np.bincount(pairs.points)
    assert np.diff(rows.starts).tolist() == np.repeat(counts * terms, 6).tolist()
    half, rest = everyone[::2], everyone[1::2]
    parts = [find_loads(setup.materials, points, own) for own in (half, rest)]
    assert sum(len(own) for _, own in parts) == len(weights)
    for _, own in parts:
        assert all(np.array_equal(of, weights[key]) for key, of in own.items())


def test_the_kernel_adds_up_fields_over_loads(setup: Any) -> None:
    solver, rng = DgWave(setup, open_backend("cpu")), np.random.default_rng(2)
    propagation = solver.propagation
    propagation.u[...] = rng.normal(size=propagation.u.shape)
    propagation.memory[...] = rng.normal(size=propagation.memory.shape)
    first, *_ = solver.outputs.green.launches
    first()
    pairs, weights = find_loads(setup.materials, setup.green.points, solver.elements.numbers)
    pairs = Pairs.of_ranks(pairs, solver.comm)
    rows = np.argsort(solver.elements.numbers)
    exact = []
    for point, element in zip(pairs.points.tolist(), pairs.elements.tolist(), strict=True):
        row, of_nodes = rows[element], weights[point, element]
        groups = [propagation.u[row, :6], *propagation.memory[row]]
        exact.append([group @ of_nodes for group in groups])
    found = solver.outputs.green.strain.values
    assert found == pytest.approx(np.array(exact).ravel(), rel=1e-11, abs=1e-12)


def test_a_force_is_the_transpose_of_a_receiver(setup: Any) -> None:
    """The integral of its load times a polynomial is the polynomial's value."""
    from groundswell.meshes.gll import gll
    from groundswell.solvers.dgwave.source_loads import element_volumes
    from groundswell.spectral_elements.curl_form import element_nodes

    place = np.array([412.0, 333.0, 271.0])
    load = interpolation_load(setup.geometry, place)
    weights = load.values * element_volumes(setup.geometry, load.elements)
    weights = weights * gll(setup.degree).cube_weights

    def polynomial(x: Any) -> Any:
        a, b, c = np.moveaxis(np.asarray(x) / 100, -1, 0)
        return 1 + a**3 - 2 * a * b**2 * c + c**3 * b

    nodes = element_nodes(setup.geometry.hexahedra, setup.degree, load.elements)
    assert np.sum(weights * polynomial(nodes)) == pytest.approx(float(polynomial(place)), rel=1e-9)


# --- runs -----------------------------------------------------------------------------------------


def test_seismograms_are_those_of_a_run_with_the_moments(tmp_path: Path) -> None:
    sections = {key: value for key, value in SECTIONS.items() if key != "source"}
    places = np.array(STATION), np.array(POSITIONS)
    given = GreenProblem(make_case, sections, *places, DT, force=0.05, source=0.035)
    backend = open_backend("cpu")
    forward = given.run_moments(backend, tmp_path, given.convolved_gaussians())
    tensor = given.run_forces(backend, tmp_path)
    assert largest_error(forward, *synthetics(given, tensor, backend)) < 1e-4


RUN = """
import json
import sys

import groundswell as gs
from groundswell.solvers.dgwave import DgWaveCase

case = DgWaveCase.from_dict(json.load(open(sys.argv[1])))
gs.run(case, folder=sys.argv[2], quiet=True)
"""


def test_ranks_leave_the_same_file(on_ranks: Callable[..., str], tmp_path: Path) -> None:
    content = force_case(time={"duration": 0.6, "step": DT}, recorded={"interval": 3 * DT})
    gs.run(DgWaveCase.from_dict(content), folder=tmp_path / "one", quiet=True)
    (tmp_path / "case.json").write_text(json.dumps(content))
    (tmp_path / "program.py").write_text(RUN)
    on_ranks(4, tmp_path / "program.py", tmp_path / "case.json", tmp_path / "four")
    assert result_arrays(tmp_path / "four") == result_arrays(tmp_path / "one")


# --- bad input ------------------------------------------------------------------------------------

SEA = [{**LAYERS[0], "vp": 1500.0, "vs": 0.0, "rho": 1000.0, "qs": 1e4}, LAYERS[1]]
AT_SIDE = [[1100.0, 500.0, 300.0]]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": {"degree": 3, "material": "node"}}, 'method.material = "node"'),
        ({"recorded": {"positions": AT_SIDE}}, "strain_green_tensor: 1 point lies outside"),
        ({"medium": {"kind": "layered", "layers": SEA}}, "lie in a fluid"),
        ({"time": {"duration": 0.3, "step": DT}}, "needs the whole force"),
    ],
)
def test_unsuitable_points_and_cases_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        prepare(DgWaveCase.from_dict(force_case(**changes)))
    assert words in str(caught.value)
