"""Throughput of the earthquake solver in the form of AWP-ODC's table, and the time of its kernels.

The reference is Callaghan & Cui (2024): million lattice point updates per second (MLUPS) on 160 x
160 x 2048 points per device, anelastic, in single precision. This benchmark includes the free
surface, matched layers on five sides, Q, a source, a receiver and peak ground motion.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from groundswell.backends import Backend
from groundswell.bench import Session
from groundswell.bench.tables import Row
from groundswell.exchange.communicator import Communicator
from groundswell.grids.cartesian import Triple
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.cost import bytes_moved, estimate
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import Earthquake

REPEATS = 5
POINTS_A_RUN = {"cuda": 1e9, "cpu": 3e7}  # enough for a run to dwarf what surrounds it
SPACING = 50.0


@dataclass(frozen=True)
class Variant:
    """One row: cells (layers included) and the physics included."""

    name: str
    cells: tuple[int, int, int]
    attenuated: bool = True
    precision: str = "single"
    sides: str = "pml"
    width: int = 10
    memory: str = "full"
    materials: str = "cells"
    yields: bool = False  # rock that could yield, but does not


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        variants: problems on one device.
        scaled: points of a rank for weak scaling.
    """

    variants: tuple[Variant, ...]
    scaled: Triple


def all_physics(cells: Triple) -> tuple[Variant, ...]:
    """The problem of the reference on some points, and others on as many."""
    return (
        Variant("anelastic", cells),
        Variant("elastic", cells, attenuated=False),
        Variant("anelastic, sponge", cells, sides="sponge"),
        Variant("anelastic, double precision", cells, precision="double"),
        Variant("anelastic, rock that may yield", cells, yields=True),
    )


def cube(edge: int) -> Variant:
    """The problem of the reference on a cube."""
    return Variant(f"anelastic, {edge} x {edge} x {edge}", (edge, edge, edge))


def measure_throughput(session: Session) -> Iterator[Row]:
    """Throughput of each variant by kernel, with the fraction of the measured bandwidth."""
    for variant in session.sizes.variants:
        yield measure_variant(session.backend, variant, session.bandwidth())


def measure_variant(
    backend: Backend, variant: Variant, bandwidth: float, times: int | None = None
) -> Row:
    """Time the step and its two hot kernels: medians of REPEATS runs of `times` launches."""
    found = make_solver(make_case(variant), backend)
    points, traffic = found.updates_per_step, estimate(found.setup).bytes_per_update
    times = times or max(4, min(4000, int(POINTS_A_RUN[backend.name] / points)))
    step = _seconds(backend, _repeated(backend, found.step, times)) / times
    row: Row = {
        "name": variant.name,
        "cells": variant.cells,
        "milliseconds": step * 1e3,
        "MLUPS": points / step / 1e6,
        "bytes_per_update": traffic,
        "bandwidth": bandwidth,
        "share": points * traffic / step / bandwidth,
        "kernels": {},
    }
    moved, kernels = bytes_moved(found.setup), row["kernels"]
    for name, launch in found.hot_kernels().items():
        seconds = _seconds(backend, _repeated(backend, launch, times)) / times
        share = points * moved[name] / seconds / bandwidth
        kernels[name] = {"milliseconds": seconds * 1e3, "bytes": moved[name], "share": share}
    return row


def make_solver(
    case: EarthquakeCase, backend: Backend, comm: Communicator | None = None
) -> Earthquake:
    """The solver of a case, on one rank or on several."""
    return Earthquake(prepare(case), backend, comm)


def make_case(variant: Variant) -> EarthquakeCase:
    """A homogeneous block with all physics; its cells include the layers."""
    nx, ny, nz = variant.cells
    sides = 2 * variant.width if variant.sides != "periodic" else 0
    x, y, z = (n * SPACING for n in (nx - sides, ny - sides, nz - variant.width))
    matter = {"vp": 6000.0, "vs": 3464.0, "rho": 2700.0}
    if variant.attenuated:
        matter |= {"qp": 155.9, "qs": 69.3}
    pulse = {"kind": "gaussian", "sigma": 0.1}
    rock = {"cohesion": 1e8, "friction_angle": 30.0, "relaxation_time": 0.03}
    place = {"x": x / 2, "y": y / 2, "depth": z / 3}
    return EarthquakeCase(
        title=variant.name,
        time={"duration": 10.0},
        grid={"size": [x, y, z], "spacing": SPACING},
        medium={"kind": "homogeneous", **matter},
        attenuation={"model": "constant" if variant.attenuated else "none"},
        boundary={"sides": variant.sides, "width": variant.width},
        source=[{"kind": "explosion", "moment": 1e16, "time_function": pulse, **place}],
        receiver=[{"name": "R", "x": x / 3, "y": y / 3, "depth": 0.0}],
        plasticity={"model": "drucker-prager", **rock} if variant.yields else None,
        run={
            "precision": variant.precision,
            "memory": variant.memory,
            "materials": variant.materials,
        },
    )


def _repeated(backend: Backend, launch: Callable[[], None], times: int) -> Callable[[], None]:
    """The launch `times` times, without host work in between."""
    graph = backend.capture(launch)
    return lambda: graph.replay(times)


def _seconds(backend: Backend, run: Callable[[], None]) -> float:
    """Median device time of a run, after one to warm up."""
    run()
    return statistics.median(backend.measure_seconds(run) for _ in range(REPEATS))
