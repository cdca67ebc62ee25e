"""Tables and warnings for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from groundswell.case.quantities import byte_size, duration
from groundswell.console import open_console, print_lines
from groundswell.errors import counted
from groundswell.grids.cartesian import format_extent

Findings = Mapping[str, Any]  # of `check` or of `info`, by key


def pairs(title: str, rows: Mapping[str, str], width: int | None = None) -> None:
    """Print names and values; `width` is the minimum width of the names."""
    _print_rows(title, rows.items(), width)


def _print_rows(title: str, rows: Iterable[tuple[str, str]], width: int | None) -> None:
    """Print names, which may occur more than once, and values."""
    table = Table(title=escape(title), box=box.SIMPLE_HEAD, show_header=False, title_justify="left")
    table.add_column(style="bold", no_wrap=True, min_width=width)
    table.add_column()
    for name, value in rows:
        table.add_row(name, escape(value))
    print_lines(table)


def warn(warnings: Iterable[str]) -> None:
    """Print warnings to standard error, one per paragraph."""
    console = open_console(sys.stderr)
    for text in warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(text)}", soft_wrap=True)


def show_check(found: Findings) -> None:
    """Print the labelled quantities of a set-up, the resources of this machine, and warnings."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for quantity in found["quantities"]:
        if quantity["label"]:
            rows = groups.setdefault(quantity["group"], [])
            rows.append((quantity["label"], quantity["text"]))
    if sharing := found.get("sharing"):
        groups[f"On {sharing['ranks']} ranks"] = [*_sharing(sharing).items()]
    groups["On this machine"] = [*_machine(found).items()]
    width = max(len(label) for rows in groups.values() for label, _ in rows)
    for title, rows in groups.items():
        _print_rows(title, rows, width)
    warn(found["warnings"])


def _sharing(sharing: Findings) -> dict[str, str]:
    """How ranks share the run, with the needs of the busiest rank."""
    processes, hosts, mates = (sharing[key] for key in ("processes", "hosts", "ranks_per_host"))
    each = "one rank each" if mates == 1 else f"at most {mates} ranks each"
    rows = {
        "hosts": "1" if hosts == 1 else f"{hosts} like this one, {each}",
        "largest block": format_extent(sharing["largest_block"]),
        "memory per rank": f"at most {byte_size(sharing['memory'])}",
        "sent per step": f"at most {byte_size(sharing['bytes_sent'])} by each rank",
    }
    more = {quantity["label"]: quantity["text"] for quantity in sharing["quantities"]}
    return ({"process grid": format_extent(processes)} if len(processes) > 1 else {}) | rows | more


def _machine(found: Findings) -> dict[str, str]:
    """The device, its memory and bandwidth, the minimum run time, and disk space."""
    disk = f"{byte_size(found['disk_free'])}; the results take {byte_size(found['output_bytes'])}"
    if found["device"] is None:
        return {"free disk space": disk}
    mates = found.get("sharing", {}).get("ranks_per_device", 1)
    shared, needs = "", ""
    if mates > 1:
        shared = f", shared by {mates} ranks"
        needs = f"; {mates} ranks take {byte_size(mates * found['sharing']['memory'])}"
    return {
        "device": found["device"] + shared,
        "free memory": byte_size(found["memory_free"]) + needs,
        "memory bandwidth": f"{byte_size(found['bandwidth'])}/s",
        "run time" if found["has_fixed_steps"] else "time per iteration": _least_time(found),
        "free disk space": disk,
    }


def _least_time(found: Findings) -> str:
    time = f"{duration(found['seconds_at_least'])} at full memory bandwidth"
    if "sharing" in found:
        time += ", without the exchange"
    if found["in_cache"]:
        return f"{time}, or less: the caches can hold all data"
    return f"at least {time}"


def show_machine(found: Findings) -> None:
    """Print versions, solvers, devices and their links, MPI, transports and the kernel cache."""
    libraries = ", ".join(f"{name} {version}" for name, version in found["libraries"].items())
    cache = found["cache"]
    pairs(
        f"Groundswell {found['groundswell']}",
        {
            "python": f"{found['python']} on {found['system']}",
            "solvers": ", ".join(found["solvers"]),
            "libraries": libraries,
            **{name: _device(entry) for name, entry in found["devices"].items()},
            **_links(found["links"]),
            "MPI": _mpi(found["mpi"]),
            **_transports(found),
            "kernel cache": f"{cache['folder']}: {counted(cache['entries'], 'entry', 'entries')}, "
            f"{byte_size(cache['bytes'])} of at most {byte_size(cache['limit'])}",
        },
    )


def _links(links: Findings) -> dict[str, str]:
    """The links between GPUs, the fastest first; no row if there are none."""
    groups: dict[tuple[float, str], list[str]] = {}
    for pair in links["pairs"]:
        key = (-pair["bandwidth"], pair["kind"])
        groups.setdefault(key, []).append("-".join(map(str, pair["devices"])))
    rows = [
        f"{kind}, about {byte_size(-bandwidth)}/s each way: "
        + ("all" if len(groups) == 1 else " ".join(joined))
        for (bandwidth, kind), joined in sorted(groups.items())
    ]
    return {"links of GPUs": "\n".join(rows)} if rows else {}


def _mpi(mpi: Findings) -> str:
    words = [
        f"mpi4py {mpi['mpi4py'] or 'is not installed'}",
        f"mpiexec {mpi['mpiexec'] or 'is not on the path'}",
    ]
    if mpi["library"]:
        words.append(f"{mpi['library']} (MPI {mpi['standard']})")
    if mpi["ranks"] > 1:
        words.append(f"thread level {mpi['thread_level']}")
        words.append(f"{counted(mpi['ranks'], 'rank')} on {counted(mpi['hosts'], 'host')}")
    return ", ".join(words)


def _transports(found: Findings) -> dict[str, str]:
    """The transports between ranks, for the devices of this machine."""
    here = (name for name, device in found["devices"].items() if device["device"] is not None)
    mpiexec = found["mpi"]["mpiexec"] or "mpiexec"
    return {
        f"ranks on {name}": _list_transports(found["transports"][name], mpiexec) for name in here
    }


def _list_transports(transports: Findings, mpiexec: str) -> str:
    """Names of the transports that work or might work, then the others with their reasons."""
    names = {
        state: ", ".join(name for name, each in transports.items() if each["works"] is state)
        for state in (True, None)
    }
    lines = [f"{names[True]} work"] if names[True] else []
    if names[None]:
        lines.append(f"{names[None]} could work; test with {mpiexec} -n 2 groundswell info")
    missing: dict[str, list[str]] = {}
    for name, each in transports.items():
        if each["works"] is False:
            missing.setdefault(each["reason"], []).append(name)
    return "\n".join([*lines, *(f"not {', '.join(of)}: {why}" for why, of in missing.items())])


def _device(entry: Findings) -> str:
    if entry["device"] is None:
        return f"not available: {entry['reason']}"
    versions = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
    return (
        f"{entry['device']}; {byte_size(entry['memory_free'])} of "
        f"{byte_size(entry['memory_total'])} free, {byte_size(entry['bandwidth'])}/s; {versions}"
    )
