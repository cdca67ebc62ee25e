"""Measurements of Poisson's equation as tables in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from groundswell.bench.tables import print_table, say, table_of, time_of
from groundswell.solvers.poisson.benchmarks.problems import METRICS


def show(measured: Mapping[str, Any]) -> None:
    """All tables, published figures beside ours."""
    devices = ", ".join(dict.fromkeys(measured["devices"]))
    plural = "s" * (measured["ranks"] > 1)
    say(
        f"{measured['ranks']} rank{plural}, {measured['backend']} backend: {devices}\n"
        f"memory: {measured['bandwidth'] / 1e9:,.0f} GB/s"
    )
    if "operator" in measured:
        print_table(_operator(measured))
    print_table(_iterations(measured))
    if "weak" in measured:
        print_table(_weak(measured))
    print_table(_peaks(measured))
    print_table(_bakeoff(measured))
    print_table(_solves(measured))
    say(f"measured in {measured['seconds']:.0f} s")


def _operator(measured: Mapping[str, Any]) -> Table:
    table = table_of(
        "The operator, and its roofline: what a kernel streams just then, and "
        f"{measured['peak'] / 1e9:,.0f} GFLOP/s that one computes (their figure 3)",
        *("N", "elements", "DOFs", "metric", "time", "GFLOP/s", "GB/s", "roofline", "of it"),
    )
    for row in measured["operator"]:
        table.add_row(
            f"{row['degree']}",
            f"{row['elements']:,}",
            f"{row['dofs']:,}",
            METRICS[row["metric"]],
            time_of(row["seconds"]),
            f"{row['gflops']:,.1f}",
            f"{row['rate'] / 1e9:,.0f}",
            f"{row['roofline']:,.1f}",
            f"{100 * row['share']:.0f} %",
        )
    return table


def _iterations(measured: Mapping[str, Any]) -> Table:
    known = {(row["degree"], row["edge"]): row for row in measured["published"]["hipbone"]}
    heads = ("N", "elements", "DOFs", "N^3 E", "metric", "an iteration", "FOM, GFLOP/s")
    more = (
        "MDOF/s a rank",
        "by N^3 E",
        "of bandwidth",
        "residual",
        "hipBone on H200: time, FOM, MDOF/s",
    )
    title = "NekBone's benchmark: 100 iterations on a cube of each rank (their figures 4 to 6)"
    table = table_of(title, *heads, *more)
    for row in measured["iterations"]:
        peer = known.get((row["degree"], row["edge"]))
        beside = ""
        if peer:  # by the same count: it has fewer degrees of freedom of the same cube
            rate = row["usual_dofs"] / row["ranks"] / peer["seconds"]
            beside = f"{time_of(peer['seconds'])}, {peer['fom']:,.0f}, {rate / 1e6:,.0f} by N^3 E"
        table.add_row(
            f"{row['degree']}",
            f"{row['elements']:,}",
            f"{row['dofs']:,}",
            f"{row['usual_dofs']:,}",
            METRICS[row["metric"]],
            time_of(row["seconds"]),
            f"{row['fom']:,.1f}",
            f"{row['throughput'] / 1e6:,.1f}",
            f"{row['usual_throughput'] / 1e6:,.1f}",
            f"{100 * row['share']:.0f} %",
            f"{row['residual']:.1e}",
            beside if row["metric"] == "stored" else "",
        )
    return table


def _weak(measured: Mapping[str, Any]) -> Table:
    table = table_of(
        "Weak scaling: the largest cubes on each rank by itself, and on all together",
        *("N", "elements a rank", "metric", "alone", "together", "efficiency"),
    )
    for row in measured["weak"]:
        table.add_row(
            f"{row['degree']}",
            f"{row['edge'] ** 3:,}",
            METRICS[row["metric"]],
            time_of(row["alone"]),
            time_of(row["seconds"]),
            f"{100 * row['efficiency']:.1f} %",
        )
    return table


def _peaks(measured: Mapping[str, Any]) -> Table:
    ranks = measured["ranks"]
    table = table_of(
        "Best figure of merit of degree 15 (their table 2)",
        *("", "metric", "ranks", "GFLOP/s", "a rank"),
    )
    for metric, name in METRICS.items():
        rows = [r for r in measured["iterations"] if (r["degree"], r["metric"]) == (15, metric)]
        if rows:
            best = max(row["fom"] for row in rows)
            table.add_row("here", name, f"{ranks}", f"{best:,.1f}", f"{best / ranks:,.1f}")
    for machine, peaks in measured["published"]["peaks"].items():
        if (best := peaks.get(ranks)) is not None:
            table.add_row(machine, "stored", f"{ranks}", f"{best:,.1f}", f"{best / ranks:,.1f}")
    return table


def _bakeoff(measured: Mapping[str, Any]) -> Table:
    table = table_of(
        "CEED's bake-off problems, degree 7: 100 iterations, 0 on all sides",
        *(
            "problem",
            "",
            "elements",
            "DOFs",
            "metric",
            "an iteration",
            "MDOF/s a rank",
            "of bandwidth",
        ),
    )
    for row in measured["bakeoff"]:
        table.add_row(
            row["problem"],
            "here",
            f"{row['elements']:,}",
            f"{row['dofs']:,}",
            METRICS[row["metric"]],
            time_of(row["seconds"]),
            f"{row['throughput'] / 1e6:,.1f}",
            f"{100 * row['share']:.0f} %",
        )
    for machine, rate in measured["published"]["bakeoff"].items():
        table.add_row(
            "BP5", f"nekRS, {machine}", "8,000", "", "stored", "", f"{rate / 1e6:,.0f}", ""
        )
    return table


def _solves(measured: Mapping[str, Any]) -> Table:
    table = table_of(
        "Solutions to 1e-8: bake-off problem BPS5, Kershaw's cube, eps 0.3, degree 7",
        *("preconditioner", "", "elements", "DOFs", "iterations", "time", "set-up"),
    )
    for row in measured["solves"]:
        table.add_row(
            row["preconditioner"],
            "here",
            f"{row['elements']:,}",
            f"{row['dofs']:,}",
            f"{row['iterations']:,}",
            time_of(row["seconds"]),
            time_of(row["set_up"]),
        )
    if measured["ranks"] == 1:
        for machine, (seconds, iterations) in measured["published"]["solves"].items():
            about = ("8,000", "", f"{iterations}", time_of(seconds), "")
            table.add_row("multigrid", f"nekRS, {machine}", *about)
    return table
