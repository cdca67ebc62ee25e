"""Ghost layers of other people's arrays, on one rank: what is viewed, refused, kept."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from domain_arrays import before, random_domain, wanted
from gpu import gpu_count
from halo_oracle import numbered

from groundswell.backends import open_backend
from groundswell.backends.array_interop import as_array, stream_handle
from groundswell.errors import InputError
from groundswell.exchange import Domain, Field, Ghosts, Numbering, plan_cache
from groundswell.exchange.boxes import CONVERSIONS, ITEMSIZE
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.gather_scatter.pattern import ROUTES
from groundswell.exchange.halo import DEFAULTS
from groundswell.exchange.waiting import DEFAULT_TIMEOUT, TIMEOUT

pytestmark = pytest.mark.each_value

ROOT = Path(__file__).parents[3]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


# --- domains --------------------------------------------------------------------------------------


def test_ghosts_of_random_domains(rng: np.random.Generator) -> None:
    for _ in range(40):
        with random_domain(rng, "cpu") as domain:
            whole = numbered(domain.shape, "float64")
            u = before(whole, domain)
            assert domain.exchange(u) is u
            assert np.array_equal(u, wanted(whole, domain))


@pytest.mark.parametrize("corners", [True, False])
def test_every_form_of_layers_means_the_same_corners(
    rng: np.random.Generator, corners: bool
) -> None:
    """Of a domain or of a field: without a flag of its own, `Ghosts` take that of the domain."""
    for _ in range(10):
        low, high = rng.integers(0, 4, (2, 2)).tolist()
        pairs, layers = list(zip(low, high, strict=True)), Ghosts(low, high)
        options = {"periodic": True, "corners": corners}
        values, found = rng.normal(size=(6, 7)), []
        for given in (pairs, layers, replace(layers, corners=corners)):
            domain = Domain((6, 7), ghosts=given, **options)
            u = domain.zeros()
            domain.interior(u)[...] = values
            found.append(domain.exchange(u).copy())
            v = np.zeros_like(u)
            v[domain.own] = values
            Domain((6, 7), **options).exchange(Field(v, ghosts=given, origin=low))
            found.append(v)
        assert all(np.array_equal(found[0], other) for other in found)
        wrapped = np.pad(values, pairs, mode="wrap")
        assert np.array_equal(found[0], wrapped) or not corners


def test_repeated_exchanges_follow_the_arrays(rng: np.random.Generator) -> None:
    """Wherever they are, and whatever their shapes and strides become."""
    with Domain((6, 7), 2, periodic=True) as domain:
        memory = np.zeros(2000)
        places = [memory[n : n + 110].reshape(10, 11) for n in (0, 0, 0, 150, 300, 0)]
        places += [memory[400:510].reshape(11, 10).T, np.zeros((10, 11)), places[0]]
        for u in (*places, *places):
            values = rng.normal(size=(6, 7))
            for _ in range(2):
                u[...] = np.nan
                domain.interior(u)[...] = values
                assert domain.exchange(u) is u
                assert np.array_equal(u, np.pad(values, 2, mode="wrap"))
        u.flags.writeable = False
        with pytest.raises(InputError, match="read-only"):
            domain.exchange(u)
        u.flags.writeable = True
        domain.exchange(u)
        assert domain.exchange(u, places[3]) == (u, places[3])
        u.shape = (110,)
        with pytest.raises(InputError, match="the last axes"):
            domain.exchange(u)
        u.shape = (10, 11)
        domain.exchange(u)
    with pytest.raises(InputError, match="is closed"):
        domain.exchange(u)


def test_ghosts_on_a_torus_are_what_numpy_pads(rng: np.random.Generator) -> None:
    domain = Domain((5, 6, 7), 2, periodic=True)
    u = domain.zeros("float32", components=3)
    values = rng.normal(size=(3, 5, 6, 7))
    domain.interior(u)[...] = values
    domain.exchange(u)
    around = [(0, 0), (2, 2), (2, 2), (2, 2)]
    assert np.array_equal(u, np.pad(values.astype("float32"), around, mode="wrap"))


def test_corners_are_left_where_they_are_not_wanted() -> None:
    domain = Domain((4, 4), 1, periodic=True, corners=False)
    u = domain.zeros()
    domain.interior(u)[...] = 1
    domain.exchange(u)
    assert u[0, 0] == u[-1, 0] == 0 and np.all(u[0, 1:-1] == 1) and u.sum() == 32


def test_widths_of_one_field() -> None:
    domain = Domain((6, 5), 2, periodic=True)
    u, v = domain.zeros(), np.zeros((7, 8))
    u[...], v[1:, 1:-2] = 7, 7
    domain.interior(u)[...] = 1
    domain.exchange(Field(u, ghosts=(1, (0, 2))), Field(v, ghosts=((1, 0), (1, 2)), sent_as=None))
    assert np.all(u[1:-1, 2:] == 1) and np.all(u[0] == 7) and np.all(u[:, :2] == 7)
    assert np.all(v == 7)
    w = np.zeros((20, 20))
    w[5:11, 6:11] = 3
    domain.exchange(Field(w, ghosts=Ghosts((1, 1), (1, 1), corners=True), origin=(5, 6)))
    assert np.all(w[4:12, 5:12] == 3) and w.sum() == 3 * 8 * 7


def test_indices_and_coordinates_fill_fields() -> None:
    domain = Domain((4, 3), ((1, 2), 1), periodic=(False, True))
    z, x = domain.indices()
    assert z.shape == (4, 1) and x.shape == (1, 3) and np.array_equal(z[:, 0], range(4))
    z, x = domain.coordinates((10.0, 0.5), (1.0, 0.25), ghosts=True)
    assert np.array_equal(z[:, 0], 1 + 10.0 * np.arange(-1, 6))
    assert np.array_equal(x[0], 0.25 + 0.5 * np.arange(-1, 4))
    assert (z + x).shape == domain.local_shape
    assert domain.local_index(np.array([3, 0])) == (4, 1)
    u = domain.zeros("int32", 2)
    domain.interior(u)[...] = np.arange(24).reshape(2, 4, 3)
    gathered = domain.gather(u)
    assert gathered is not None and np.array_equal(gathered, np.arange(24).reshape(2, 4, 3))


def test_near_and_other_points_are_all_points_once() -> None:
    domain = Domain((9, 8, 7), 2, periodic=(False, True, True))
    near, others = domain.split()
    count = domain.zeros("int8")
    for box in (*near, *others):
        count[box] += 1
    assert np.all(domain.interior(count) == 1) and count.sum() == 9 * 8 * 7
    assert [s.stop - s.start for s in others[0]] == [9, 4, 3]
    assert [s.stop - s.start for s in domain.split(3)[1][0]] == [9, 2, 1]


# --- arrays of other libraries --------------------------------------------------------------------


class Interface:
    """An array that only describes itself."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.__array_interface__ = array.__array_interface__
        self._keep = array


class Capsule:
    """An array that only speaks DLPack."""

    def __init__(self, array: np.ndarray[Any, Any], device: tuple[int, int] = (1, 0)) -> None:
        self._array, self._device = array, device

    def __dlpack__(self, **how: Any) -> Any:
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def fortran(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asfortranarray(array)


@pytest.mark.parametrize("wrap", [np.asarray, Interface, Capsule, fortran])
def test_arrays_are_viewed_where_they_lie(wrap: Any, rng: np.random.Generator) -> None:
    domain = Domain((6, 5), 1, periodic=True)
    array = wrap(rng.normal(size=(7 + 1, 6 + 1)))
    inner = as_array(domain.backend, array)
    expected = np.pad(inner[1:-1, 1:-1], 1, mode="wrap")
    assert domain.exchange(array) is array
    assert np.array_equal(inner, expected)


def test_any_strides_will_do(rng: np.random.Generator) -> None:
    domain = Domain((6, 5), 1, periodic=True)
    big = rng.normal(size=(2, 16, 40))
    for view in (big[0, ::2, 1:15:2], big[1, ::-2, 13::-2][:, ::1], big[0].T[4:36:4, 2:9]):
        expected = np.pad(view[1:-1, 1:-1], 1, mode="wrap")
        domain.exchange(view)
        assert np.array_equal(view, expected)


def refused(array: Any) -> str:
    with pytest.raises(InputError) as found:
        as_array(open_backend("cpu"), array)
    return str(found.value)


def test_what_cannot_be_viewed_is_refused_with_its_cure() -> None:
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    assert "read-only" in refused(frozen)
    assert "read-only" in refused(Interface(frozen))
    assert "repeats values" in refused(np.lib.stride_tricks.as_strided(np.zeros(4), (3, 4), (0, 8)))
    assert "plain numbers" in refused(np.array([None, 1]))
    assert "plain numbers" in refused(np.zeros(3, "f4,f4"))
    assert "plain numbers" in refused(np.zeros(3, "S3"))
    assert all("not a supported array" in refused(given) for given in ([1.0, 2.0], None))
    assert "as an argument of its own" in refused((np.zeros(3), np.zeros(3)))
    assert 'device="cuda"' in refused(Capsule(np.zeros(3), (2, 0)))
    on_gpu = SimpleNamespace(__cuda_array_interface__={})
    assert "lies on a GPU" in refused(on_gpu)
    assert "cannot be viewed" in refused(Capsule(frozen[:0].astype(object)))


def test_arrays_without_values_are_viewed() -> None:
    """A rank may have none; NumPy's strides are 0 then."""
    assert as_array(open_backend("cpu"), np.zeros((3, 0))).shape == (3, 0)
    nothing = Numbering(np.array([], np.int64)).gather_scatter(np.zeros((3, 0)))
    assert nothing.shape == (3, 0)


def test_torch_tensors_are_viewed(rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    domain = Domain((6, 5), 1, periodic=True)
    u = torch.from_numpy(rng.normal(size=(8, 7)))
    expected = np.pad(u[1:-1, 1:-1].numpy(), 1, mode="wrap")
    assert domain.exchange(u) is u and np.array_equal(u.numpy(), expected)
    b = torch.zeros((8, 7), dtype=torch.bfloat16)
    domain.interior(b)[...] = 3
    domain.exchange(b.view(torch.int16))
    assert bool((b == 3).all())
    assert "detach()" in refused(torch.zeros(3, requires_grad=True))
    assert "repeats values" in refused(torch.zeros(3, 1).expand(3, 4))
    assert "integers of the same size" in refused(b)
    assert "cannot be viewed" in refused(torch.zeros(3, device="meta"))


def test_jax_arrays_are_replaced(rng: np.random.Generator) -> None:
    jax = pytest.importorskip("jax")
    domain = Domain((6, 5), 1, periodic=True)
    for dtype in ("float32", "bfloat16", "int8"):
        x = jax.numpy.asarray(rng.integers(0, 50, (2, 8, 7)), dtype)
        v, kept = domain.zeros(), np.array(x)
        y, same = domain.exchange(x, v)
        assert isinstance(y, jax.Array) and y.dtype == x.dtype and same is v
        expected = np.pad(kept[:, 1:-1, 1:-1], [(0, 0), (1, 1), (1, 1)], mode="wrap")
        assert np.array_equal(np.asarray(y), expected) and np.array_equal(np.asarray(x), kept)
        z = domain.exchange(y + 1)
        assert np.array_equal(np.asarray(y), expected) and np.array_equal(z, expected + 1)
    assert "read-only" in refused(x)
    with pytest.raises(InputError, match=r"jax\.jit"):
        jax.jit(domain.exchange)(x)


# --- streams --------------------------------------------------------------------------------------


def test_the_handle_of_a_stream() -> None:
    class Core:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 42

    assert stream_handle(7) == 7
    assert stream_handle(SimpleNamespace(ptr=8)) == 8
    assert stream_handle(SimpleNamespace(cuda_stream=9)) == 9
    assert stream_handle(Core()) == 42
    assert stream_handle(SimpleNamespace(__cuda_stream__=(0, 43))) == 43
    for wrong in (True, -1, "0", 1.5, None, SimpleNamespace(ptr="x")):
        with pytest.raises(InputError, match="no CUDA stream"):
            stream_handle(wrong)


# --- examples, and the cost of an import ----------------------------------------------------------


def run_example(name: str) -> str:
    command = [sys.executable, str(ROOT / "examples" / "exchange" / name)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_the_heat_of_an_example_is_what_one_array_gives(library: str) -> None:
    pytest.importorskip(library)
    k, j, i = np.ogrid[:40, :40, :40]
    u = np.zeros((42,) * 3)
    u[1:-1, 1:-1, 1:-1] = (k - 12) ** 2 + (j - 20) ** 2 + (i - 24) ** 2 < 64
    for _ in range(50):
        pairs = [np.roll(u, 1, a) + np.roll(u, -1, a) for a in range(3)]
        new = (pairs[0] + pairs[1] + pairs[2] + 2 * u) / 8
        u[1:-1, 1:-1, 1:-1] = new[1:-1, 1:-1, 1:-1]
    checksum = zlib.crc32(np.ascontiguousarray(u[1:-1, 1:-1, 1:-1]))
    name = "heat" if library == "numpy" else f"heat_{library}"
    assert f"checksum {checksum:08x}" in run_example(f"{name}.py")


PAGE = (ROOT / "docs" / "exchange.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("code", SNIPPETS, ids=lambda code: code.split()[1])
def test_the_python_of_the_page_runs(code: str) -> None:
    for library in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(library)
    if "cupy" in code and not gpu_count():
        pytest.skip("needs a GPU")
    names: dict[str, Any] = {}
    exec(compile(code, "docs/exchange.md", "exec"), names)
    if "domain" in names:
        domain = names["domain"]
        assert domain.ghosts.low[0] and domain in plan_cache._OPEN
        domain.close()
    else:
        assert names["v"].tolist() == [1, 1, 2, 2] and names["u"].tolist() == [1, 2, 2, 2, 2, 1]


def test_the_page_names_what_there_is() -> None:
    assert len(SNIPPETS) == 6
    assert all(f'"{route}"' in PAGE for route in ROUTES) and "`mpc`" in PAGE and "`zfp16`" in PAGE
    assert all(f"`{name}`" in PAGE for device in TRANSPORTS.values() for name in device)
    assert all(f"`{option}`" in PAGE for option in DEFAULTS)
    assert all(f"| {wide} | {sent} |" in PAGE for wide, sent in CONVERSIONS if narrower(wide, sent))
    assert TIMEOUT in PAGE and f"default {DEFAULT_TIMEOUT:.0f}" in PAGE
    assert f"last {plan_cache.MOST_PLANS} plans" in PAGE


@pytest.mark.parametrize("codec", ["mpc", "zfp24"])
def test_a_codec_is_asked_for(codec: str) -> None:
    """One rank sends nothing, so nothing is coded."""
    domain = Domain((6, 5), 1, periodic=True, codec=codec)
    u = domain.zeros()
    domain.interior(u)[...] = np.random.default_rng().normal(size=(6, 5))
    domain.exchange(u)
    assert np.array_equal(u, np.pad(domain.interior(u), 1, mode="wrap"))


@pytest.mark.parametrize("codec", ["zip", "zfp", "zfp2", "zfp65", 16])
def test_an_unknown_codec(codec: Any) -> None:
    with pytest.raises(InputError, match="exist; allowed: none, mpc, and zfp3"):
        Domain((6, 5), codec=codec)


def narrower(wide: str, sent: str) -> bool:
    return ITEMSIZE[sent] < ITEMSIZE[wide]


def test_importing_the_exchange_loads_no_library() -> None:
    code = "import sys, groundswell.exchange; raise SystemExit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), check=False)
    assert done.returncode == 0
