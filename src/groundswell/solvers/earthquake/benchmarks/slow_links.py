"""Steps of an earthquake whose ranks talk over slower links, with messages coded or not.

The document is Callaghan & Cui (2024), whose AWP-ODC gains from MPC and ZFP in its MPI library.
Whether a code pays follows from the rates at which it packs and unpacks (Tc, Td), how much shorter
it makes messages (r) and what the link carries (B): 1 - 1/r > B (1/Tc + 1/Td).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.backends.nvcomp import installed
from groundswell.bench.exchange.rig import FASTEST, Rig, Row
from groundswell.bench.tell import Tell, silent
from groundswell.exchange.codecs.coder import FOREIGN
from groundswell.exchange.transports.base import Link
from groundswell.exchange.transports.coded import CodedTransfer
from groundswell.exchange.tuning import Choice, Rehearsal, tune
from groundswell.exchange.world import MpiWorld, world
from groundswell.solvers.earthquake import Earthquake, EarthquakeCase
from groundswell.solvers.earthquake.benchmarks.throughput import Variant, make_case
from groundswell.solvers.earthquake.halo import stress_halo, velocity_halo
from groundswell.solvers.earthquake.setup import Setup

CODECS = ("none", "mpc", "zfp16", "zfp8")
LATENCY = 2e-6  # s, as of a good network
SECONDS = 60.0  # at most


@dataclass(frozen=True)
class Sizes:
    """Cells of each rank, rates of links in bytes a second, steps at which ghosts are coded."""

    cells: tuple[int, int, int] = (160, 32, 2048)
    links: tuple[float, ...] = (0.0, 12.5e9, 25e9, 50e9)
    steps: tuple[int, ...] = (20, 400, 1500)


SIZES = {
    "cuda": Sizes(),
    "cpu": Sizes(cells=(64, 24, 64), links=(0.0, 1e7, 1e8), steps=(5, 40, 150)),
}


def measure_ranks(
    backend: Backend, sizes: Sizes | None = None, *, tell: Tell = silent
) -> dict[str, Any]:
    """Slower links between ranks, with codecs and without; every rank must call it."""
    chosen, job = sizes or SIZES[backend.name], world()
    assert isinstance(job, MpiWorld)
    rig = Rig(backend, job, [FASTEST[backend.name]])
    tell("slower links")
    rig.begin("slow", SECONDS)
    slow = measure_slow(rig, chosen.cells, chosen.links, chosen.steps)
    return {
        "solver": "earthquake",
        "devices": job.share(backend.device),
        "ranks": job.size,
        "slow": slow,
        "notes": rig.notes,
    }


def measure_slow(
    rig: Rig, cells: tuple[int, int, int], links: Sequence[float], steps: Sequence[int]
) -> dict[str, Any]:
    """Step times by link and codec, as the tuner measures them, and what codes make of ghosts.

    Args:
        cells: of each rank.
        links: bytes a second and rank; 0 for the machine's own.
        steps: at which ghosts are looked at: early, in the middle and late. Links are measured
            after the last.

    Returns:
        "ratios": rows `step`, `codec`, `bytes`, `ratio`, `encode` and `decode` in bytes a second;
        "fields": rows `step`, `field`, `bytes`, `ratio` of the code without loss;
        "links": rows `link`, `codec`, `seconds`, `chosen` and `pays`, what the rule says.
    """
    return rig.attempt("slow links", lambda: _measured(rig, cells, links, steps)) or {
        "ratios": [],
        "fields": [],
        "links": [],
    }


def _measured(
    rig: Rig, cells: tuple[int, int, int], links: Sequence[float], steps: Sequence[int]
) -> dict[str, Any]:
    solver = Earthquake(Setup.from_case(_case(rig, cells)), rig.backend, rig.world)
    others = rig.backend.name == "cuda" and all(rig.world.share(installed()))
    codecs = [*CODECS[1:], *FOREIGN * others]
    ratios, fields, done = list[Row](), list[Row](), 0
    for step in steps:
        _adopt(rig, solver, Choice(FASTEST[rig.backend.name]))
        _exchange(rig, solver)  # codes with loss have been tried on the ghosts
        _advance(rig, solver, step - done)
        done = step
        ratios += [{"step": step, **_ratio(rig, solver, codec)} for codec in codecs]
        fields += [{"step": step, **row} for row in _by_field(rig, solver)]
    latest = {row["codec"]: row for row in ratios if row["step"] == steps[-1]}
    rows = [row for link in links for row in _over(rig, solver, link, latest)]
    solver.close()
    return {"ratios": ratios, "fields": fields, "links": rows}


def _case(rig: Rig, cells: tuple[int, int, int]) -> EarthquakeCase:
    """The benchmark's earthquake with as many cells for each rank, next to each other along y."""
    nx, ny, nz = cells
    case = make_case(Variant("ranks", (nx, ny * rig.world.size, nz)))
    run = {"processes": (1, rig.world.size, 1), "codec": "none"}
    return case.model_copy(update={"run": case.run.model_copy(update=run)})


def _adopt(rig: Rig, solver: Earthquake, choice: Choice, link: float = 0.0) -> None:
    solver.link = Link(link, LATENCY) if link else None
    solver.set_exchange(choice)


def _exchange(rig: Rig, solver: Earthquake) -> None:
    """Fill the ghosts that the last step has filled once more."""
    for exchange in solver.exchanges:
        exchange()
    rig.backend.synchronize()


def _advance(rig: Rig, solver: Earthquake, steps: int) -> None:
    graph = rig.backend.capture(solver.step, in_graph=solver.in_graph)
    graph.replay(steps)
    rig.backend.synchronize()


def _ratio(rig: Rig, solver: Earthquake, codec: str) -> Row:
    """How much shorter a codec makes the ghosts of a step, and how fast it is."""
    _adopt(rig, solver, Choice(FASTEST[rig.backend.name], codec=codec))
    _exchange(rig, solver)
    coded = [x.coded for x in solver.exchanges if x.coded]
    sent = sum(exchange.bytes for exchange in solver.exchanges)
    row = {"codec": codec, "bytes": sent, "ratio": sent / sum(_shorter(coded))}
    in_graph = all(code.in_graph for code in coded)
    for name, launches in _codes(coded).items():
        row[name] = sent / rig.seconds(in_order(launches), in_graph=in_graph)
    return row


def _shorter(coded: Sequence[CodedTransfer]) -> list[int]:
    """Bytes of all streams."""
    return [length for code in coded for _, length in code.lengths().values()]


def _by_field(rig: Rig, solver: Earthquake) -> list[Row]:
    """How much shorter the code without loss makes each field's ghosts."""
    _adopt(rig, solver, Choice(FASTEST[rig.backend.name], aggregate=False, codec="mpc"))
    _exchange(rig, solver)
    layers = (velocity_halo(), stress_halo(solver.setup, solver.cut))
    totals: dict[str, NDArray[np.int64]] = {}
    for found, exchange in zip(layers, solver.exchanges, strict=True):
        of_ranks = rig.world.share(exchange.coded.lengths() if exchange.coded else {})
        for key, (name, _) in enumerate(found):
            lengths = np.sum([lengths.get(key, (0, 0)) for lengths in of_ranks], axis=0)
            totals[name] = totals.get(name, 0) + lengths
    return [
        {"field": name, "bytes": int(plain), "ratio": float(plain / coded)}
        for name, (plain, coded) in totals.items()
        if plain
    ]


def _codes(coded: Sequence[CodedTransfer]) -> dict[str, list[Any]]:
    return {
        "encode": [launch for code in coded for launch in code.encode],
        "decode": [launch for code in coded for launch in code.decode],
    }


def _over(rig: Rig, solver: Earthquake, link: float, latest: dict[str, Row]) -> list[Row]:
    """Steps over a link with each codec, and which one the tuner takes."""

    def rehearse(choice: Choice) -> Rehearsal:
        _adopt(rig, solver, choice, link)
        graph = rig.backend.capture(solver.step, in_graph=solver.in_graph)
        return lambda times: rig.backend.seconds(lambda: graph.replay(times))

    transport = FASTEST[rig.backend.name]
    tuning = tune(rig.world, [Choice(transport, codec=codec) for codec in CODECS], rehearse)
    return [
        {
            "link": link,
            "codec": trial.choice.codec,
            "seconds": trial.seconds,
            "chosen": trial.choice == tuning.best,
            "pays": pays(latest[trial.choice.codec], link)
            if trial.choice.codec in latest
            else None,
        }
        for trial in tuning.trials
        if trial.seconds is not None
    ]


def pays(code: Row, link: float) -> bool:
    """Whether the rule says so of a link of so many bytes a second; 0 for one without a limit."""
    costs = link * (1 / code["encode"] + 1 / code["decode"])
    return bool(link) and 1 - 1 / code["ratio"] > costs
