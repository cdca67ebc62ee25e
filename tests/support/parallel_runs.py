"""Earthquake cases, and the parallel configurations in which they run.

Sources and receivers stand on the sides and at the corners of blocks, where a cell too few in an
exchange, or a value that is added twice, would show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

REGION = (70, 21, 12)  # cells of 100 m, and 4 more at absorbing sides
PULSE = {"kind": "gaussian", "sigma": 0.03}
# Soft ground on rock, beside which matched layers at the sides are coupled.
LAYERS = [
    {"top": 0.0, "vp": 1500.0, "vs": 600.0, "rho": 2000.0, "qp": 40, "qs": 20},
    {"top": 250.0, "vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100, "qs": 50},
]
# Halves of the grid meet at x = 3500 m, y = 1000 m and z = 800 or 600 m, thirds at x = 2200 or
# 2300 m, y = 500 m and z = 500 m.
# Halves meet at the sea floor below an absorbing top, and two cells below it under a surface.
SEA = [
    {"top": 0.0, "vp": 1500.0, "vs": 0.0, "rho": 1000.0, "qp": 1e4, "qs": 1e4},
    {"top": 560.0, "vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100, "qs": 50},
]
# Its strains are some 1e-6.
SOIL = {
    **{"model": "iwan", "depth": 300.0, "vs_limit": 1e3, "surfaces": 5},
    "reference_strain": "1e-7 * (1 + depth / 100 + x / 7000)",
}
SOURCES = [
    # It starts before time 0, so the run does, too.
    {"kind": "double-couple", "strike": 35, "dip": 80, "rake": 10, "magnitude": 3.0}
    | {"x": 3500.0, "y": 1000.0, "depth": 800.0, "time_function": PULSE | {"onset": -0.03}},
    {"kind": "double-couple", "strike": 70, "dip": 40, "rake": -90, "magnitude": 3.0}
    | {"x": 2240.0, "y": 490.0, "depth": 590.0},
    {"kind": "force", "force": ["1e10 N", "2e10 N", "-1e10 N"]}
    | {"x": 3510.0, "y": 1000.0, "depth": 5.0},
    {"kind": "force", "force": ["2e10 N", "-1e10 N", "1e10 N"]}
    | {"x": 6980.0, "y": 10.0, "depth": 510.0},
    {"kind": "explosion", "magnitude": 3.0} | {"x": 20.0, "y": 2090.0, "depth": 30.0},
]
RECEIVERS = [
    *[(3500, 1000, 0), (3500, 1000, 800), (3490, 995, 10), (3550, 1050, 605), (3500, 0, 0)],
    *[(0, 0, 0), (0, 2100, 0), (7000, 2100, 1200), (2200, 500, 500), (2300, 1000, 1000)],
    *[(4805, 505, 5), (7000, 0, 800), (20, 1400, 600), (2210, 505, 210), (3490, 995, 240)],
]
# Weaker along x, so that the strength has classes; the sources make a part of it yield.
YIELDING = {
    "model": "drucker-prager",
    "cohesion": "5e3 + 0.5 * x + where(vs > 1000, 1e5, 0)",
    "friction_angle": 3.0,
    "relaxation_time": 0.02,
    "stress": {"ratio": 0.95},
    "fluid_pressure": "hydrostatic",
}
INTENSITY = {
    **{"periods": [0.4, 1.0], "angles": 5, "interval": 0.02},
    "maps": ["psa", "rotd50", "arias", "cav"],
}
INTERIOR_RECEIVER = (1800, 1300, 300)


@dataclass(frozen=True)
class Variant:
    """An earthquake case, whoever computes it."""

    sides: str
    top: str
    precision: str
    single_receiver: bool = False  # inside a block, so that only maps read across sides
    sea: bool = False
    compact: bool = False  # memory variables in 16 bits, materials in a table
    yields: bool = False
    soil: bool = False  # soft soil that yields in the uppermost rows

    @property
    def places(self) -> list[tuple[float, float, float]]:
        return [INTERIOR_RECEIVER] if self.single_receiver else RECEIVERS

    def case(self, **run: Any) -> dict[str, Any]:
        receivers = [
            {"name": f"R{n}", "x": x, "y": y, "depth": z} for n, (x, y, z) in enumerate(self.places)
        ]
        storage = {"memory": "half", "materials": "classes"} if self.compact else {}
        rock = {"plasticity": YIELDING} if self.yields else {}
        strain = ["plastic_strain"] * self.yields
        rock |= {"plasticity": SOIL} if self.soil else {}
        return {
            "solver": "earthquake",
            **rock,
            "title": "ranks",
            "grid": {"size": [100.0 * n for n in REGION], "spacing": 100.0},
            "time": {"duration": 0.4, "step": 0.01},
            "medium": {"kind": "layered", "layers": SEA if self.sea else LAYERS},
            "attenuation": {"model": "constant"},
            "boundary": {"sides": self.sides, "top": self.top, "width": 4},
            "source": [{"time_function": PULSE} | source for source in SOURCES],
            "receiver": receivers,
            "output": {
                "seismograms": {"interval": 0.02},
                "surface": {"interval": 0.05, "stride": 2},
                "volumes": {"interval": 0.1, "stride": 3, "fields": ["vx", "szz", *strain]},
                "shaking_map": True,
                "intensity": INTENSITY,
            },
            "run": {"precision": self.precision, **storage, **run},
        }


@dataclass(frozen=True)
class ParallelRun:
    """A parallel configuration: a case, the processes along x, y and z, and the transport."""

    ranks: int
    variant: Variant
    processes: tuple[int, int, int] | None
    transport: str
    overlap: bool
    codec: str = "none"

    @property
    def name(self) -> str:
        variant, shared = self.variant, "x".join(map(str, self.processes or ("auto",)))
        words = [variant.sides, variant.top, variant.precision, shared, self.transport]
        words += (
            ["sea"] * variant.sea
            + ["compact"] * variant.compact
            + ["yields"] * variant.yields
            + ["soil"] * variant.soil
            + ["after"] * (not self.overlap)
            + ["few"] * variant.single_receiver
        )
        words += [self.codec] * (self.codec != "none")
        return "-".join([str(self.ranks), *words])

    def case(self) -> dict[str, Any]:
        shared = {"processes": list(self.processes)} if self.processes else {}
        options = {"transport": self.transport, "overlap": self.overlap, "codec": self.codec}
        return self.variant.case(**options, **shared)


ROCK = Variant("pml", "free-surface", "single")
DEEP = Variant("pml", "absorbing", "double")
SPONGE = Variant("sponge", "free-surface", "double")
DEEP_SPONGE = Variant("sponge", "absorbing", "single")
PERIODIC = Variant("periodic", "free-surface", "double")
DEEP_PERIODIC = Variant("periodic", "absorbing", "single")

# Runs that share a number of ranks share a start of MPI; those that share a variant, their kernels.
PARALLEL_RUNS = [
    ParallelRun(2, replace(DEEP, sea=True), (1, 1, 2), "peer", True),
    ParallelRun(2, replace(DEEP_SPONGE, sea=True, compact=True), (2, 1, 1), "peer", True),
    ParallelRun(4, replace(ROCK, soil=True), (2, 2, 1), "mpi", False),
    ParallelRun(4, PERIODIC, (1, 2, 2), "mpi-thread", True, "mpc"),
    ParallelRun(4, replace(PERIODIC, yields=True), (2, 2, 1), "mpi", True),
]
MORE_PARALLEL_RUNS = [
    ParallelRun(4, ROCK, (2, 2, 1), "mpi", False),
    ParallelRun(2, replace(ROCK, soil=True, compact=True), (1, 1, 2), "peer", True),
    ParallelRun(3, replace(PERIODIC, soil=True), (3, 1, 1), "mpi", False),
    ParallelRun(4, replace(DEEP_PERIODIC, soil=True), (1, 2, 2), "peer", True),
    ParallelRun(6, replace(SPONGE, soil=True), (3, 2, 1), "mpi-thread", True),
    ParallelRun(8, replace(ROCK, soil=True), (2, 2, 2), "peer", True, "mpc"),
    ParallelRun(2, ROCK, (1, 1, 2), "peer", True),
    ParallelRun(4, replace(ROCK, compact=True), (1, 2, 2), "mpi", True),
    ParallelRun(4, replace(PERIODIC, sea=True), (2, 1, 2), "mpi", True),
    ParallelRun(4, replace(PERIODIC, single_receiver=True), (2, 2, 1), "peer", True),
    ParallelRun(4, PERIODIC, None, "auto", True),
    ParallelRun(2, DEEP_PERIODIC, (2, 1, 1), "mpi", False),
    ParallelRun(2, DEEP_SPONGE, (1, 2, 1), "mpi-thread", True),
    ParallelRun(2, DEEP_SPONGE, (2, 1, 1), "peer", True, "mpc"),
    ParallelRun(2, PERIODIC, (1, 2, 1), "mpi", True),
    ParallelRun(3, DEEP, (3, 1, 1), "mpi-thread", True),
    ParallelRun(3, DEEP, (3, 1, 1), "mpi", False, "mpc"),
    ParallelRun(3, SPONGE, (1, 3, 1), "peer", False),
    ParallelRun(3, PERIODIC, (1, 1, 3), "mpi", True),
    ParallelRun(4, ROCK, (1, 1, 4), "peer", True),  # the lowest block is all layer
    ParallelRun(4, PERIODIC, (2, 2, 1), "mpi-thread", True),
    ParallelRun(4, PERIODIC, (2, 2, 1), "peer", False),
    ParallelRun(4, DEEP_SPONGE, (1, 4, 1), "mpi-thread", True),
    ParallelRun(4, replace(DEEP_SPONGE, single_receiver=True), (1, 1, 4), "mpi", False),
    ParallelRun(2, replace(DEEP, yields=True, sea=True), (1, 1, 2), "peer", True),
    ParallelRun(3, replace(ROCK, yields=True, compact=True), (3, 1, 1), "mpi", False),
    ParallelRun(4, replace(ROCK, yields=True, compact=True), (1, 2, 2), "peer", True),
    ParallelRun(6, replace(SPONGE, yields=True), (3, 2, 1), "peer", True),
    ParallelRun(8, replace(PERIODIC, yields=True), (2, 2, 2), "mpi-thread", True),
    # Blocks of three rows.
    ParallelRun(6, replace(DEEP_PERIODIC, single_receiver=True), (1, 1, 6), "mpi", False),
    ParallelRun(6, DEEP_PERIODIC, None, "auto", True),
    ParallelRun(6, SPONGE, (3, 2, 1), "peer", True),
    ParallelRun(8, ROCK, (2, 2, 2), "peer", True),
    ParallelRun(8, ROCK, (2, 2, 2), "mpi", False),
    ParallelRun(8, PERIODIC, (2, 2, 2), "mpi-thread", True),
]
