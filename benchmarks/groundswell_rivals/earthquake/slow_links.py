"""Time steps over slower links, with and without compressed messages.

The reference is Callaghan & Cui (2024), whose AWP-ODC gains from MPC and ZFP in its MPI library. A
codec pays off if 1 - 1/r > B (1/Tc + 1/Td), with the compression ratio r, the bandwidth B of the
link, and the rates Tc of compression and Td of decompression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from groundswell.arrays import Integers
from groundswell.backends import Backend, Graph
from groundswell.backends.base import in_order
from groundswell.bench import Session
from groundswell.bench.rig import FASTEST, Rig
from groundswell.bench.tables import Row
from groundswell.exchange.codecs import CodedTransfer
from groundswell.exchange.tuning import Choice, Timer, tune
from groundswell.grids.cartesian import Triple
from groundswell.solvers.earthquake.benchmarks.throughput import Sizes as OwnSizes
from groundswell.solvers.earthquake.benchmarks.throughput import Variant, make_case, make_solver
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.halo import stress_halo, velocity_halo
from groundswell_rivals.exchange.slow_link import Link, LinkedBackend

CODECS = ("none", "mpc", "zfp16", "zfp8")
LATENCY = 2e-6  # s, as of a good network


@dataclass(frozen=True)
class Sizes(OwnSizes):
    """Sizes of the measured problems.

    Args:
        coded: points of a rank.
        links: bandwidths of links in bytes/s; 0 for the machine's own.
        steps: steps at which ghosts are compressed.
    """

    coded: Triple = (160, 32, 2048)
    links: tuple[float, ...] = (0.0, 12.5e9, 25e9, 50e9)
    steps: tuple[int, ...] = (20, 400, 1500)


MORE: dict[str, dict[str, Any]] = {
    "cuda": {},
    "cpu": {"coded": (64, 24, 64), "links": (0.0, 1e7, 1e8), "steps": (5, 40, 150)},
}


def with_links(sizes: Mapping[str, Any] | None) -> dict[str, Sizes]:
    """The sizes of the solver's own benchmark, by backend, with those of links."""
    return {name: Sizes(**vars(own), **MORE[name]) for name, own in (sizes or {}).items()}


def measure_codecs(session: Session) -> Iterator[Row]:
    """Compression of the ghosts of an earthquake, early, in the middle and late in the run.

    Yields:
        Rows: `step`, `codec`, `bytes`, `ratio`, `encode` and `decode` in bytes/s.
    """
    rig, sizes = session.rig, session.sizes
    study = rig.attempt("an earthquake", lambda: Study(rig, sizes.coded))
    rig.remembered["study"] = study
    if study is None:
        return
    for step in sizes.steps:
        yield from rig.attempt(f"step {step}", partial(study.ghosts_at, step)) or ()


def measure_fields(session: Session) -> Iterator[Row]:
    """Compression ratio of the lossless codec for the ghosts of each field.

    Yields:
        Rows: `field`, `step`, `bytes`, `ratio`, as found by `measure_codecs`.
    """
    if study := session.rig.remembered["study"]:
        yield from sorted(study.fields, key=lambda row: str(row["field"]))


def measure_links(session: Session) -> Iterator[Row]:
    """Steps by link and codec, as the tuner measures them, after the last of those steps.

    Yields:
        Rows: `link` in bytes/s per rank (0: the machine's own), `codec`, `seconds`, `gain`
        over no codec, `chosen` by the tuner, and `pays` according to the rule.
    """
    rig = session.rig
    study = rig.remembered["study"]
    for link in session.sizes.links if study else ():
        yield from rig.attempt(f"a link of {link:g} bytes/s", partial(study.steps_over, link)) or ()
    if study:
        rig.attempt("the end", study.solver.close)


class Study:
    """An earthquake on all ranks, with ghosts compressed and sent over slower links.

    Args:
        cells: of each rank.

    Attributes:
        fields: rows of `measure_fields`.
    """

    def __init__(self, rig: Rig, cells: tuple[int, int, int]) -> None:
        self._rig, self._done = rig, 0
        self._linked = LinkedBackend(rig.backend)
        backend = cast(Backend, self._linked)  # it passes on all that it does not change
        self.solver = make_solver(_case(rig, cells), backend, rig.comm)
        self._transport = FASTEST[rig.backend.name]
        self._latest: dict[str, Row] = {}  # of each codec
        self.fields: list[Row] = []

    def ghosts_at(self, step: int) -> list[Row]:
        """Compression of the ghosts after this number of steps."""
        self.solver.set_exchange(Choice(self._transport))
        self._exchange()  # codes with loss have been tried on the ghosts
        self._captured().replay(step - self._done)
        self._rig.backend.synchronize()
        self._done = step
        rows: list[Row] = [{"step": step, **self._ratio(codec)} for codec in CODECS[1:]]
        self._latest = {row["codec"]: row for row in rows}
        self.fields += [{"step": step, **row} for row in self._by_field()]
        return rows

    def steps_over(self, link: float) -> list[Row]:
        """Steps over a link with each codec, and the tuner's choice."""
        self._linked.set_link(Link(link, LATENCY) if link else None)
        choices = [Choice(self._transport, codec=codec) for codec in CODECS]
        tuning = tune(self._rig.comm, choices, self._timer)
        taken = {m.choice.codec: m.seconds for m in tuning.measurements if m.seconds is not None}
        plain = taken.get("none")
        return [
            {
                "link": link,
                "codec": codec,
                "seconds": seconds,
                "gain": plain / seconds - 1 if plain else None,
                "chosen": codec == tuning.best.codec,
                "pays": pays(self._latest[codec], link) if codec in self._latest else None,
            }
            for codec, seconds in taken.items()
        ]

    def _timer(self, choice: Choice) -> Timer:
        self.solver.set_exchange(choice)
        graph = self._captured()
        return lambda times: self._rig.backend.measure_seconds(lambda: graph.replay(times))

    def _captured(self) -> Graph:
        return self._rig.backend.capture(self.solver.step, in_graph=self.solver.in_graph)

    def _exchange(self) -> None:
        """Repeat the exchange of the last step."""
        for exchange in self.solver.exchanges:
            exchange()
        self._rig.backend.synchronize()

    def _ratio(self, codec: str) -> Row:
        """Compression ratio and speed of a codec for the ghosts of a step."""
        self.solver.set_exchange(Choice(self._transport, codec=codec))
        self._exchange()
        transfers = [exchange.transfers[0] for exchange in self.solver.exchanges]
        coded = [each for each in transfers if isinstance(each, CodedTransfer)]
        sent = sum(exchange.bytes for exchange in self.solver.exchanges)
        shorter = sum(length for code in coded for _, length in self._lengths(code).values())
        row = {"codec": codec, "bytes": sent, "ratio": sent / shorter}
        in_graph = all(code.in_graph for code in coded)
        for name in ("encode", "decode"):
            launches = [launch for code in coded for launch in getattr(code.bound, name)]
            row[name] = sent / self._rig.seconds(in_order(launches), in_graph=in_graph)
        return row

    def _lengths(self, transfer: CodedTransfer) -> dict[int, tuple[int, int]]:
        """Bytes by tag of the messages: not coded, and of the streams that were coded last."""
        found: dict[int, tuple[int, int]] = {}
        for message, code in zip(transfer.messages, transfer.encoders, strict=True):
            plain, coded = found.get(message.tag, (0, 0))
            plain += sum(segment.bytes for segment in message.sends)
            if code is not None:
                to_host, used = self._rig.backend.to_host, code.used
                coded += code.capacity if used is None else int(to_host(used)[0])
            found[message.tag] = plain, coded
        return found

    def _by_field(self) -> list[Row]:
        """Compression ratio of the lossless codec for the ghosts of each field."""
        solver = self.solver
        solver.set_exchange(Choice(self._transport, aggregate=False, codec="mpc"))
        self._exchange()
        layers = (velocity_halo(None), stress_halo(solver.setup, solver.decomposition))
        totals: dict[str, Integers] = {}
        for found, exchange in zip(layers, solver.exchanges, strict=True):
            transfer = exchange.transfers[0]
            here = self._lengths(transfer) if isinstance(transfer, CodedTransfer) else {}
            of_ranks = self._rig.comm.allgather(here)
            for key, (name, _) in enumerate(found):
                lengths = np.sum([lengths.get(key, (0, 0)) for lengths in of_ranks], axis=0)
                totals[name] = totals.get(name, 0) + lengths
        return [
            {"field": name, "bytes": int(plain), "ratio": float(plain / coded)}
            for name, (plain, coded) in totals.items()
            if plain
        ]


def _case(rig: Rig, cells: tuple[int, int, int]) -> EarthquakeCase:
    """The benchmark's earthquake with this number of cells per rank, and ranks along y."""
    nx, ny, nz = cells
    case = make_case(Variant("ranks", (nx, ny * rig.comm.size, nz)))
    run = {"processes": (1, rig.comm.size, 1), "codec": "none"}
    return case.model_copy(update={"run": case.run.model_copy(update=run)})


def pays(code: Row, link: float) -> bool:
    """Whether a codec pays off on a link of this bandwidth, bytes/s; 0 for an unlimited one."""
    costs = link * (1 / code["encode"] + 1 / code["decode"])
    return bool(link) and 1 - 1 / code["ratio"] > costs
