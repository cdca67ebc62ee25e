"""Other people's arrays on several ranks: examples, the page's code, and random domains."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks
from variants import long_variants

from groundswell.backends.cache import default_folder

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "support" / "domain_program.py"
EXAMPLES = ROOT / "examples" / "exchange"
CHECKSUM = "28b2ed41"  # of all examples; tests/unit/exchange/test_api.py computes it another way
SNIPPETS = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "exchange.md").read_text(), re.DOTALL
)


def printed(ranks: int, *arguments: str | Path, **environment: str) -> str:
    """What a program that ends well has printed."""
    done = run_on_ranks(ranks, *arguments, **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


TORCH = "needs torch, which scripts/test does not install: it comes with gigabytes of CUDA"


def require(code: str) -> None:
    """Skip what needs libraries that are not here."""
    for library in re.findall(r"^import (\w+)", code, re.MULTILINE):
        require_library(library)


def require_library(name: str) -> None:
    pytest.importorskip(name, reason=TORCH if name == "torch" else None)


def test_the_example_does_not_depend_on_ranks() -> None:
    lines = [printed(ranks, EXAMPLES / "heat.py") for ranks in (1, 3)]
    assert [line.split()[0] for line in lines] == ["1", "3"]
    assert {line.split()[-1] for line in lines} == {CHECKSUM}, lines


@pytest.mark.full
@pytest.mark.parametrize("name", ["heat_torch", "heat_jax"])
def test_examples_with_other_libraries_print_the_same(name: str) -> None:
    path = EXAMPLES / f"{name}.py"
    require(path.read_text())
    line = printed(3, path, CUDA_VISIBLE_DEVICES="")
    assert line.split()[-1] == CHECKSUM


@pytest.mark.parametrize("ranks", [2, *long_variants([4])])
def test_the_python_of_the_page_runs(
    on_ranks: Callable[..., str], ranks: int, tmp_path: Path
) -> None:
    for code in (c for c in SNIPPETS if "import numpy" in c):
        (tmp_path / "snippet.py").write_text(code)
        on_ranks(ranks, tmp_path / "snippet.py")


@pytest.mark.full
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_the_python_of_the_page_runs_with(library: str, tmp_path: Path) -> None:
    require_library(library)
    (tmp_path / "snippet.py").write_text(next(c for c in SNIPPETS if f"import {library}" in c))
    printed(2, tmp_path / "snippet.py", CUDA_VISIBLE_DEVICES="")


@pytest.mark.parametrize(
    "what",
    ["numpy", "narrow", "plans", "owners", "cartesian", "disagreement", "lonely error"],
)
@pytest.mark.parametrize("ranks", [2, *long_variants([4])])
def test_arrays_on_cpus(on_ranks: Callable[..., str], ranks: int, what: str) -> None:
    assert "all holds" in on_ranks(ranks, PROGRAM, what, "cpu", str(ranks))


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_blocks_of_any_lengths(on_ranks: Callable[..., str], ranks: int) -> None:
    assert "all holds" in on_ranks(ranks, PROGRAM, "blocks", "cpu", str(ranks))


@pytest.mark.parametrize("ranks", [2, *long_variants([4])])
@pytest.mark.parametrize("what", ["communicators", "unfinished"])
def test_ends_of_programs(what: str, ranks: int) -> None:
    assert "all holds" in printed(ranks, PROGRAM, what, "cpu", str(ranks))


@pytest.mark.parametrize(("library", "ranks"), long_variants([("torch", 2), ("jax", 2)]))
def test_arrays_of_other_libraries(library: str, ranks: int) -> None:
    require_library(library)
    program = (PROGRAM, library, "cpu", str(ranks))
    assert "all holds" in printed(ranks, *program, CUDA_VISIBLE_DEVICES="")


def test_the_fastest_transport_is_found_and_cached(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(FASTEST)
    for kernel in default_folder().glob("*.so"):  # so that they are not compiled once more
        (tmp_path / kernel.name).symlink_to(kernel)
    first, again = (printed(2, program, GROUNDSWELL_CACHE=str(tmp_path)) for _ in range(2))
    assert first == again and first.startswith("way: ")
    assert len(list(tmp_path.glob("tuning-*.json"))) == 1


@pytest.mark.full
def test_ranks_may_have_different_caches(tmp_path: Path) -> None:
    """Each rank has its own, and one is lost: the measurement of rank 0 holds for all."""
    program = tmp_path / "program.py"
    program.write_text(OWN_CACHE + FASTEST)
    own = {"GROUNDSWELL_CACHE": str(tmp_path / "of-rank-")}
    first = printed(2, program, **own)
    shutil.rmtree(tmp_path / "of-rank-1")
    assert printed(2, program, **own) == first
    tunings = [path.parent.name for path in tmp_path.glob("*/tuning-*.json")]
    assert tunings == ["of-rank-0"]
    shutil.rmtree(tmp_path / "of-rank-0")
    assert printed(2, program, **own).startswith("way: ")


OWN_CACHE = """
import os
from mpi4py import MPI
os.environ["GROUNDSWELL_CACHE"] += str(MPI.COMM_WORLD.rank)
"""
FASTEST = """
import numpy as np
from groundswell.exchange import Domain

domain = Domain((12, 8), ghosts=2, periodic=True, transport="fastest")
u, v = (domain.zeros(t) for t in ("float32", "int16"))
for a in (u, v):
    domain.interior(a)[...] = domain.rank + 1
domain.exchange(u, v)
plan = domain.plan(u, v)
for a in (u, v):
    a[:2] = a[-2:] = -1
plan()
assert set(np.unique(u)) == set(np.unique(v)) == {1, 2}
assert "the fastest of " in repr(plan) and " us" in repr(plan)
if domain.rank == 0:
    print("way:", plan.path)
"""


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("what", ["cupy", "torch", "jax", "narrow", "plans", "streams", "views"])
def test_arrays_on_gpus(what: str) -> None:
    if what in ("torch", "jax"):
        require_library(what)
    free = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    assert "all holds" in printed(2, PROGRAM, what, "cuda", "5", **free)


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
def test_the_page_runs_on_gpus(tmp_path: Path) -> None:
    for code in SNIPPETS:
        require(code)
        (tmp_path / "snippet.py").write_text(code)
        printed(2, tmp_path / "snippet.py", XLA_PYTHON_CLIENT_PREALLOCATE="false")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("name", ["heat_cupy", "heat_torch", "heat_jax"])
def test_the_examples_run_on_gpus(name: str) -> None:
    path = EXAMPLES / f"{name}.py"
    require(path.read_text())
    line = printed(2, path, XLA_PYTHON_CLIENT_PREALLOCATE="false")
    assert line.split()[-1] == CHECKSUM


LATE = """
import sys, time
from groundswell.errors import RunFailed
from groundswell.exchange import Domain
domain = Domain((64, 64), 1)
plan = domain.plan(domain.zeros(), transport=sys.argv[1])
if domain.rank:
    time.sleep(6)
else:
    plan.start()
    try:
        plan.finish()
    except RunFailed as error:
        print("caught:", error)
sys.exit(3)
"""


@pytest.mark.parametrize("transport", ["mpi", *long_variants(["mpi-thread"])])
def test_a_plan_that_could_not_be_finished_does_not_hold_up_the_end(transport: str) -> None:
    done = run_on_ranks(2, "-c", LATE, transport, timeout=60, GROUNDSWELL_TIMEOUT="1")
    assert "caught: rank 1 has sent no data" in done.stdout and done.returncode != 0
