"""Earthquakes on several ranks: every file is that of one rank, bit by bit.

Each number of ranks runs its cases in one start of MPI.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from ranks import run_on_ranks
from results import assert_same_results, numbers
from variants import long_variants
from ways import LONG, PROGRAM, WAYS, Variant, Way

pytestmark = pytest.mark.timeout(300)
Ran = Callable[[int], Path]
every_way = pytest.mark.parametrize("way", [*WAYS, *long_variants(LONG)], ids=lambda way: way.name)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, full: bool) -> Ran:
    """The folder with the results of all cases of so many ranks."""
    folder = tmp_path_factory.mktemp("ranks")
    ways = [*WAYS, *LONG] if full else WAYS

    @cache
    def run(ranks: int) -> Path:
        whole = {repr(way.variant): way.variant.case() for way in ways}
        cases = {way.name: way.case() for way in ways if way.ranks == ranks} or whole
        path = folder / f"{ranks}.json"
        path.write_text(json.dumps(cases))
        done = run_on_ranks(ranks, PROGRAM, path, folder)
        assert done.returncode == 0, done.stderr[-4000:]
        return folder

    return run


@every_way
def test_any_number_of_ranks_leaves_the_same_files(ran: Ran, way: Way) -> None:
    reference = ran(1) / repr(way.variant)
    assert_same_results(ran(way.ranks) / way.name, reference)


@every_way
def test_ranks_share_it_as_they_were_told(ran: Ran, way: Way) -> None:
    found = json.loads((ran(way.ranks) / way.name / "summary.json").read_text())["ranks"]
    assert found["count"] == way.ranks == np.prod(found["processes"])
    assert way.processes is None or tuple(found["processes"]) == way.processes
    assert found["overlap"] == way.overlap or way.processes is None
    assert found["bytes_sent_per_step"] > 0
    if way.transport != "auto":  # which measures and takes the fastest
        assert ("memory" in found["transport"]) == (way.transport == "peer")
        assert found["transport"].startswith("mpc over") == (way.codec == "mpc")


@pytest.mark.parametrize("variant", sorted({way.variant for way in WAYS}, key=repr), ids=repr)
def test_there_is_something_to_compare(ran: Ran, variant: Variant) -> None:
    """Every receiver hears a source, and all of them are heard across blocks."""
    values = numbers(ran(1) / repr(variant))
    dtype = {"single": "f4", "double": "f8"}[variant.precision]
    heard = values["seismograms.h5:velocity"]
    series = np.frombuffer(heard, dtype).reshape(len(variant.places), 3, -1)
    assert (np.abs(series).max(axis=2) > 0).all()
