"""Stopped runs of DG waves continue on any number of ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dgwave_rank_cases import MEDIA, VARIANTS
from ranks import run_on_ranks
from result_comparison import assert_same_results
from small_cases import write_small_case
from toml_text import toml
from variants import long_variants

import groundswell as gs

pytestmark = pytest.mark.timeout(300)


INTERRUPTED = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"


# Elements of the small case otherwise than bricks of one size with attenuation and matched layers.
SLOPE = {"topography": {"kind": "formula", "elevation": "100 + x / 20 + 30 * sin(y / 200)"}}
BOX = {"size": [1200, 1200, 900], "spacing": [[500, 300, 400], 300, [300, 200, 400]]}
HALVED = {
    "medium": MEDIA["soft"] | dict.fromkeys(("vp", "vs", "rho", "qp", "qs")),
    "refinement": {"frequency": 5, "levels": 1},
    "time": {"duration": 0.4, "step": 0.004},
}


@pytest.mark.parametrize(
    ("wrote", "resumes", "changes"),
    [
        (2, 1, {}),
        *long_variants(
            [
                (2, 3, SLOPE),
                (2, 1, {"grid": BOX}),
                (1, 3, {}),
                (3, 2, HALVED),
                (2, 5, {}),
                (3, 1, SLOPE),
                (1, 2, HALVED),
            ]
        ),
    ],
)
def test_stopped_runs_continue_on_any_number_of_ranks(
    tmp_path: Path, wrote: int, resumes: int, changes: dict[str, Any]
) -> None:
    """With attenuation and matched layers."""
    case = write_small_case(tmp_path, "dgwave", **changes)
    check_stopped_run(case, wrote, resumes)


@pytest.mark.parametrize(
    ("wrote", "resumes", "variant"),
    [(2, 3, "mesh fault"), *long_variants([(3, 1, "fault"), (3, 1, "mesh fault")])],
)
def test_stopped_ruptures_continue(tmp_path: Path, wrote: int, resumes: int, variant: str) -> None:
    """Slip, the state of friction and rupture times go on."""
    case = tmp_path / "case.toml"
    changes = {"time": {"duration": 0.36, "step": 0.004}}
    content = {"title": "rupture", **VARIANTS[variant], **changes}
    case.write_text("\n".join(f"{key} = {toml(value)}" for key, value in content.items()))
    check_stopped_run(case, wrote, resumes)


def test_stopped_yielding_continues(tmp_path: Path) -> None:
    """Plastic strain goes on."""
    case = tmp_path / "case.toml"
    content = {
        "title": "yielding",
        **VARIANTS["yielding"],
        "time": {"duration": 0.16, "step": 0.002},
    }
    case.write_text("\n".join(f"{key} = {toml(value)}" for key, value in content.items()))
    check_stopped_run(case, 2, 3)


def check_stopped_run(case: Path, wrote: int, resumes: int) -> None:
    """A run stops on so many ranks, and goes on with others to the results of one rank."""
    tmp_path = case.parent
    reference = gs.run(case, folder=tmp_path / "whole").folder
    arguments = ("run", case, "-q", "--no-pictures")
    stopped = run_on_ranks(wrote, INTERRUPTED, "SIGTERM", str(wrote - 1), "15", *arguments)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stderr.count("stopped by SIGTERM after step") == 1
    never = ("SIGTERM", "-1", "0")
    resumed = run_on_ranks(resumes, INTERRUPTED, *never, *arguments, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert 0 < summary["resumed_at"] < summary["steps"]
    assert_same_results(tmp_path / "results", reference)
