"""Generic kernels, which read the extents of a grid at run time, against specialised ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import short_and_long

from groundswell.backends import Exact, Items, Source, open_backend
from groundswell.grids import cartesian
from groundswell.simulation.simulation import Simulation

pytestmark = pytest.mark.each_value

CASES = Path(__file__).parents[2] / "support" / "digest_cases"
NAMES = ("quake_layers", "quake_sponge", "quake_periodic", "cavity_cube", "cavity_lid")
KERNEL = """
#include "portable.h"
KERNEL fill(real* out, double* exact, index_t count) {
  FOR_ITEMS(n, count) {
    out[n] = n < COUNT ? SCALE * REAL(n) : REAL(0);
    exact[n] = SCALE_EXACT;
  }
}
"""


def fields_after(name: str, steps: int) -> dict[str, np.ndarray]:
    with Simulation(CASES / f"{name}.toml", backend="cpu") as simulation:
        simulation.advance(steps)
        return {field: np.array(values) for field, values in simulation.fields.items()}


@pytest.mark.parametrize(
    "name", short_and_long(NAMES, ("quake_sponge", "quake_periodic", "cavity_lid"))
)
def test_they_compute_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cartesian, "SHORT_RUN", 1e12)
    generic = fields_after(name, 40)
    monkeypatch.setattr(cartesian, "SHORT_RUN", 0)
    specialised = fields_after(name, 40)
    assert any(values.any() for values in generic.values())
    for field, values in specialised.items():
        assert generic[field].tobytes() == values.tobytes(), field


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernel") / "fill.h"
    path.write_text(KERNEL)
    return path


def source_of(path: Path, count: int, scale: float, *, generic: bool = True) -> Source:
    parameters = {"COUNT": count, "SCALE": scale, "SCALE_EXACT": Exact(scale)}
    return Source(path, {}, parameters, generic=generic)


@settings(max_examples=20)
@given(
    values=st.lists(st.tuples(st.integers(0, 9), st.floats(-1e30, 1e30)), min_size=2, max_size=4)
)
def test_modules_of_one_binary_have_their_own_parameters(
    kernel: Path, values: list[tuple[int, float]]
) -> None:
    backend = open_backend("cpu")
    modules = [backend.compile(source_of(kernel, *each)) for each in values]
    for module, (count, scale) in zip(modules, values, strict=True):
        out, exact = backend.zeros((10,), np.float32), backend.zeros((10,), np.float64)
        out[...] = exact[...] = np.nan
        module.launch("fill", Items(10), out, exact, 10)()
        expected = np.where(np.arange(10) < count, np.float32(scale) * np.arange(10, dtype="f4"), 0)
        np.testing.assert_array_equal(out, expected.astype(np.float32))
        assert (exact == scale).all()


def test_the_text_depends_on_parameters_only_if_specialised(kernel: Path) -> None:
    generic, special = (
        [source_of(kernel, count, 0.5, generic=generic) for count in (3, 4)]
        for generic in (True, False)
    )
    assert generic[0].generic_text() == generic[1].generic_text()
    assert special[0].text() != special[1].text()
