"""Answers as tables in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from groundswell.grids.cartesian import format_extent


def gigabytes(count: float) -> str:
    """Bytes for the eye."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """A time for the eye."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def pairs(title: str, rows: Mapping[str, str]) -> None:
    """Print names and their values."""
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, show_header=False, title_justify="left")
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, escape(value))
    _print(table)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings, one a paragraph, where they cannot end up in data."""
    console = Console(stderr=True, highlight=False)
    for text in warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(text)}", soft_wrap=True)


def show_check(found: Mapping[str, Any]) -> None:
    """The quantities of a set-up in their groups, what its device has, and warnings."""
    groups: dict[str, dict[str, str]] = {}
    for quantity in found["quantities"]:
        if quantity["label"]:
            groups.setdefault(quantity["group"], {})[quantity["label"]] = quantity["text"]
    needs = _needs(found)
    for title, rows in groups.items():
        pairs(title, {name: text for name, text in rows.items() if name not in needs})
    pairs("What the run needs", needs)
    warn(found["warnings"])


def _needs(found: Mapping[str, Any]) -> dict[str, str]:
    sharing = found.get("sharing")
    rows = {
        "precision": found["precision"],
        **({"ranks": _ranks(sharing)} if sharing else {}),
        "memory": gigabytes(found["memory"]),
    }
    rows["results"] = f"{gigabytes(found['output_bytes'])} of {gigabytes(found['disk_free'])} free"
    if found["device"] is not None:
        rows["memory"] += f" of {gigabytes(found['memory_free'])} free"
        rows["device"] = f"{found['device']}, {gigabytes(found['bandwidth'])}/s"
        rows["time"] = f"{_least(found)}, if all bandwidth were used"
    return rows | (_shared(found, sharing) if sharing else {})


def _least(found: Mapping[str, Any]) -> str:
    return f"at least {duration(found['seconds_at_least'])}" + " a step" * (
        not found["has_fixed_steps"]
    )


def _ranks(sharing: Mapping[str, Any]) -> str:
    hosts = "1 host" if sharing["hosts"] == 1 else f"{sharing['hosts']} hosts like this one"
    grid = f"{format_extent(sharing['processes'])} = " if len(sharing["processes"]) > 1 else ""
    return (
        f"{grid}{sharing['ranks']} on {hosts}; at most "
        f"{format_extent(sharing['largest_block'])} cells, and {gigabytes(sharing['bytes_sent'])} "
        "sent a step, each"
    )


def _shared(found: Mapping[str, Any], sharing: Mapping[str, Any]) -> dict[str, str]:
    """What else the rows say if ranks share the run: the largest block decides."""
    memory = f"at most {gigabytes(sharing['memory'])} a rank"
    if found["device"] is None:
        return {"memory": memory}
    mates, device = sharing["ranks_per_device"], {"cpu": "host", "cuda": "GPU"}[found["backend"]]
    all_mates = f"; {gigabytes(mates * sharing['memory'])} for the {mates} on a {device}"
    where = all_mates if mates > 1 else f", alone on its {device}"
    return {
        "memory": f"{memory}{where}, where {gigabytes(found['memory_free'])} are free",
        "device": f"{found['device']}, {gigabytes(found['bandwidth'])}/s"
        + f", shared by {mates} ranks" * (mates > 1),
        "time": f"{_least(found)} for the largest block, if all bandwidth were used and exchanges "
        "took no time",
    }


def show_verification(checks: Iterable[Any]) -> None:
    """What each check came to and had to be."""
    table = Table("problem", "found", "exact", "allowed", "", box=box.SIMPLE_HEAD)
    for check in checks:
        table.add_row(
            escape(check.name) + (f"\n[dim]{escape(check.note)}[/dim]" if check.note else ""),
            f"{check.value:.4g} {check.unit}",
            "" if check.reference is None else f"{check.reference:.4g} {check.unit}",
            check.tolerance,
            "[green]passed[/green]" if check.passed else "[bold red]FAILED[/bold red]",
        )
    _print(table)


def show_machine(found: Mapping[str, Any]) -> None:
    """Versions, devices and their links, MPI, transports and cache."""
    libraries = ", ".join(f"{name} {version}" for name, version in found["libraries"].items())
    cache = found["cache"]
    pairs(
        f"Groundswell {found['groundswell']}",
        {
            "python": f"{found['python']} on {found['system']}",
            "libraries": libraries,
            **{name: _device(entry) for name, entry in found["devices"].items()},
            **_links(found["links"]),
            "MPI": _mpi(found["mpi"]),
            **_transports(found),
            "kernel cache": f"{cache['folder']}: {cache['entries']} entries, "
            f"{gigabytes(cache['bytes'])} of at most {gigabytes(cache['limit'])}",
        },
    )


def _links(links: Mapping[str, Any]) -> dict[str, str]:
    """What joins the GPUs, the fastest first; no row where there are none."""
    groups: dict[tuple[float, str], list[str]] = {}
    for pair in links["pairs"]:
        key = (-pair["bandwidth"], pair["kind"])
        groups.setdefault(key, []).append("-".join(map(str, pair["devices"])))
    rows = [
        f"{kind}, about {gigabytes(-bandwidth)}/s each way: "
        + ("all" if len(groups) == 1 else " ".join(joined))
        for (bandwidth, kind), joined in sorted(groups.items())
    ]
    return {"links of GPUs": "\n".join(rows)} if rows else {}


def _mpi(mpi: Mapping[str, Any]) -> str:
    words = [
        f"mpi4py {mpi['mpi4py'] or 'is not installed'}",
        f"mpiexec {mpi['mpiexec'] or 'is not on the path'}",
    ]
    if mpi["library"]:
        words.append(f"{mpi['library']} (MPI {mpi['standard']})")
    if mpi["ranks"] > 1:
        words.append(f"thread level {mpi['thread_level']}")
        words.append(f"{mpi['ranks']} ranks on {mpi['hosts']} host" + "s" * (mpi["hosts"] > 1))
    return ", ".join(words)


def _transports(found: Mapping[str, Any]) -> dict[str, str]:
    """The ways between ranks, for devices that are here."""
    here = (name for name, device in found["devices"].items() if device["device"] is not None)
    return {f"ranks on {name}": _ways(found["transports"][name]) for name in here}


def _ways(transports: Mapping[str, Any]) -> str:
    """Names of those that work or might work, then each other one with its reason."""
    names = {
        state: ", ".join(name for name, way in transports.items() if way["works"] is state)
        for state in (True, None)
    }
    lines = [f"{names[True]} work"] if names[True] else []
    lines += [f"{names[None]} could work; see with mpiexec -n 4 groundswell info"] * bool(
        names[None]
    )
    refused = {name: way["reason"] for name, way in transports.items() if way["works"] is False}
    return "\n".join([*lines, *(f"{name} does not: {why}" for name, why in refused.items())])


def _device(entry: Mapping[str, Any]) -> str:
    if entry["device"] is None:
        return f"not here: {entry['reason']}"
    versions = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
    return (
        f"{entry['device']}; {gigabytes(entry['memory_free'])} of "
        f"{gigabytes(entry['memory_total'])} free, {gigabytes(entry['bandwidth'])}/s; {versions}"
    )


def _print(table: Table) -> None:
    Console(file=sys.stdout, highlight=False).print(table)
