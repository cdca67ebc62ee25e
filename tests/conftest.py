"""What many tests share: a tiny earthquake as a case file, and the command in its own process."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from bandwidths import bandwidths_not_kept
from hypothesis import settings
from kept_datasets import datasets_kept
from rank_pool import RankPools
from toml_text import toml
from variants import quick_run

# Several threads, also where there is one core. BLAS has threads of its own, which spin.
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Threads that wait for each other must not spin: other tests use the cores at the same time.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Programs that import mpi4py themselves start without a network, too; see launcher.py.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")

# A shell starts background jobs with SIGINT ignored, which processes inherit. Tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Property tests share their cores with compilers: how long an example takes says nothing. Examples
# differ from run to run, so few of them are enough for each quick run.
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("full", deadline=None, max_examples=200)

SOURCE = Path(__file__).parents[1] / "src"
COMMAND = str(Path(__file__).parent / "support" / "command_program.py")
SEARCHED = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])

# 24 x 24 x 24 cells and 4 more at each absorbing side; the step is given, so that all tests share
# one compiled kernel.
TINY: dict[str, Any] = {
    "solver": "earthquake",
    "title": "tiny",
    "grid": {"size": ["2400 m", "2400 m", "2400 m"], "spacing": "100 m"},
    "time": {"duration": "1 s", "step": "10 ms"},
    "medium": {
        "kind": "homogeneous",
        "vp": "4 km/s",
        "vs": "2.3 km/s",
        "rho": "2600 kg/m^3",
        "qp": 100,
        "qs": 50,
    },
    "attenuation": {"model": "constant"},
    "boundary": {"width": 4},
    "source": [
        {
            "kind": "double-couple",
            "x": "1230 m",
            "y": "1180 m",
            "depth": "810 m",
            "strike": 35,
            "dip": 80,
            "rake": 10,
            "magnitude": 3.0,
            "time_function": {"kind": "brune", "rise": "0.1 s"},
        }
    ],
    "receiver": [
        {"network": "GS", "name": "A", "x": "320 m", "y": "710 m", "depth": "0 m"},
        {"network": "GS", "name": "B", "x": "1900 m", "y": "1500 m", "depth": "450 m"},
    ],
    "output": {
        "seismograms": {"interval": "0.02 s"},
        "surface": {"interval": "0.05 s", "stride": 2},
        "volumes": {"interval": "0.25 s", "stride": 3, "fields": ["vx", "szz"]},
    },
    "run": {},
}

Content = dict[str, Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the long variants of tests, too")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("full" if config.getoption("--full") else "quick")
    gc.disable()  # until all tests are collected: millions of objects, of which few are garbage


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long variants out unless somebody asks for them."""
    if config.getoption("--full"):
        return
    quick = set(quick_run(items))
    config.hook.pytest_deselected(items=[item for item in items if item not in quick])
    items[:] = [item for item in items if item in quick]


def pytest_collection_finish() -> None:
    """Spare the garbage collector the objects that live to the end."""
    gc.freeze()
    gc.enable()


def merged(base: Content, changes: Content) -> Content:
    """`base` with some keys replaced; tables are merged, and None removes a key."""
    result = dict(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(base.get(key), dict):
            result[key] = merged(base[key], value)
        else:
            result[key] = value
    return result


@pytest.fixture(scope="session", autouse=True)
def _small_triads() -> Iterator[None]:
    """Have runs in this process measure the bandwidth on a megabyte: on 384 it takes half a second.

    Commands in processes of their own do it in command_program.py.
    """
    from groundswell.backends import Backend

    measure = Backend.measure_bandwidth
    little = patch.object(
        Backend,
        "measure_bandwidth",
        lambda self, megabytes=1, repeats=1: measure(self, megabytes, repeats),
    )
    with little, bandwidths_not_kept():
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_disk() -> Iterator[None]:
    """Do not wait for the disk in this process: no power cut is expected within the tests."""
    with patch("os.fsync", lambda descriptor: None):
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_netcdf() -> Iterator[None]:
    """Write and read small NetCDF files in less time; see kept_datasets.py."""
    with datasets_kept():
        yield


@pytest.fixture(scope="session", autouse=True)
def _quick_pictures() -> Iterator[None]:
    """Lay pictures out once in this process: the layout takes most of the time of a picture.

    A second time moves labels by a few pixels.
    """
    with patch("groundswell.plotting.style.PASSES", 1):
        yield


@pytest.fixture(scope="module", autouse=True)
def _threads(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run tests of accuracy and of failures on one thread: a second one would mostly spin.

    All other tests check that threads compute correctly.
    """
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    alone = {"OMP_NUM_THREADS": "1"} if folder in ("physics", "robustness") else {}
    with patch.dict(os.environ, alone):
        yield


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether long variants run, too."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture(scope="session")
def tiny() -> Callable[..., Content]:
    """The tiny case as tables, with changes: `tiny(time={"duration": "2 s"})`."""
    return lambda **changes: merged(TINY, changes)


@pytest.fixture(scope="session")
def write_case(tiny: Callable[..., Content]) -> Callable[..., Path]:
    """Write the tiny case, with changes, into a folder; returns the file."""

    def write(folder: Path, **changes: Any) -> Path:
        path = folder / "case.toml"
        content = tiny(**changes)
        path.write_text("".join(f"{key} = {toml(entry)}\n" for key, entry in content.items()))
        return path

    return write


@pytest.fixture(scope="session")
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start `groundswell` with some arguments and changes of the environment."""

    def begin(*arguments: str | Path, **changes: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, COMMAND, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": SEARCHED, **changes},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell that runs the tests in the background has made its children deaf to Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return begin


@pytest.fixture(scope="session")
def command(
    start: Callable[..., subprocess.Popen[str]],
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `groundswell` to its end, at most a minute."""

    def run(*arguments: str | Path, **changes: str) -> subprocess.CompletedProcess[str]:
        process = start(*arguments, **changes)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


@pytest.fixture(scope="session")
def on_ranks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """What a program prints: `on_ranks(4, PROGRAM, "cpu")`. The same ranks run many programs."""
    pools = RankPools(lambda: tmp_path_factory.mktemp("ranks"))
    yield pools.run
    pools.close()


@pytest.fixture(scope="module")
def gpu() -> Any:
    """The CUDA backend; skips the test where no GPU answers."""
    from groundswell.backends import open_backend
    from groundswell.errors import BackendError

    try:
        return open_backend("cuda")
    except BackendError as error:
        pytest.skip(str(error))
