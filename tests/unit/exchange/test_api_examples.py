"""Examples of the exchange, its page in the guide, and what its import costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu import gpu_count

from groundswell.errors import InputError
from groundswell.exchange import Domain, Numbering, plan_cache
from groundswell.exchange.boxes import CONVERSIONS, ITEMSIZE
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.gather_scatter.pattern import ROUTES
from groundswell.exchange.halo import DEFAULTS
from groundswell.exchange.waiting import DEFAULT_TIMEOUT, TIMEOUT

pytestmark = pytest.mark.each_value


ROOT = Path(__file__).parents[3]


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
DESIGN = (ROOT / "docs" / "design" / "exchange.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CUPY = SNIPPETS[0].replace("import numpy", "import cupy").replace("ghosts=1", '1, device="cuda"')


@pytest.mark.parametrize("code", [*SNIPPETS, CUPY], ids=lambda code: code.split()[1])
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
    assert len(SNIPPETS) == 5 and "device" in CUPY and '"mpc"' in PAGE and '"zfp16"' in PAGE
    assert all(f'"{route}"' in str(Numbering.__doc__) for route in ROUTES)
    assert all(f"`{name}`" in PAGE for device in TRANSPORTS.values() for name in device)
    assert all(f"`{option}`" in PAGE for option in DEFAULTS)
    rounded = [pair for pair in CONVERSIONS if narrower(*pair)]
    assert all(f"| {wide} | {sent} |" in DESIGN for wide, sent in rounded)
    assert TIMEOUT in PAGE and f"default {DEFAULT_TIMEOUT:.0f}" in PAGE
    kept = " ".join(str(Domain.exchange.__doc__).split())
    assert f"last {plan_cache.MOST_PLANS} plans" in kept


@pytest.mark.parametrize("codec", ["mpc", "zfp24"])
def test_a_codec_is_asked_for(codec: str) -> None:
    """One rank sends nothing, so nothing is coded."""
    domain = Domain((6, 5), 1, periodic=True, codec=codec)
    u = domain.zeros()
    domain.interior(u)[...] = np.random.default_rng(1).normal(size=(6, 5))
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
