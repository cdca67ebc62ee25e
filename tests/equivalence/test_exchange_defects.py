"""What users of other exchanges have reported, tried on this one; each test is named for a defect.

Those that need ranks are checks of support/defect_program.py, run on each transport.
"""

from __future__ import annotations

import gc
import json
import math
import re
import shlex
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from halo_oracle import after, before, numbered
from ranks import environment, launcher, run_on_ranks
from variants import long_variants

from groundswell.backends import Blocks, open_backend
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.cuda_module import geometry
from groundswell.errors import BackendError, InputError
from groundswell.exchange.boxes import CHUNK, RAW, Copy, StridedBox, _chunks
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.ghost_field import GhostField, HaloMessages
from groundswell.exchange.ghosts import Ghosts, uniform
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.messages import offsets_of
from groundswell.exchange.waiting import TIMEOUT

SUPPORT = Path(__file__).parents[1] / "support"
TRANSPORTS = ("mpi", "mpi-thread", "peer", "staged")
CHECKS = """
west_and_east_are_not_swapped parts_of_a_message_come_in_order exchanges_in_flight_do_not_mix
an_exchange_can_be_used_many_times a_rank_may_lag_behind_by_one_exchange
faces_may_have_more_than_65535_rows any_widths_shapes_and_types
an_exchange_keeps_what_it_needs launches_keep_what_they_need corners_are_exchanged_only_if_asked_for
the_path_is_what_is_really_used operations_show_themselves aggregation_changes_nothing
poison_is_gone_where_the_exchange_fills poison_stays_where_nobody_fills
a_rank_that_does_not_come_is_named
""".split()
BEYOND = 2**31


@pytest.fixture(scope="module")
def complaints() -> dict[str, dict[str, str | None]]:
    """What each check on two ranks has to complain about, by transport."""
    done = run_on_ranks(2, SUPPORT / "defect_program.py", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    found: dict[str, dict[str, str | None]] = json.loads(done.stdout.splitlines()[-1])
    assert set(found) == set(TRANSPORTS) and all(set(f) == set(CHECKS) for f in found.values())
    return found


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("check", CHECKS)
def test_on_two_ranks(
    complaints: dict[str, dict[str, str | None]], check: str, transport: str
) -> None:
    complaint = complaints[transport][check]
    assert complaint is None, complaint


@pytest.mark.parametrize("what", ["exchange", *long_variants(["operation", "gather", "close"])])
def test_stale_ghosts_are_never_used_without_a_word(what: str) -> None:
    """A device that has waited in vain goes on; whoever looks next is told, on all ranks."""
    done = run_on_ranks(2, SUPPORT / "stale_halo_program.py", what, timeout=60)
    assert done.returncode == 0 and done.stdout.count("all holds") == 2, done.stderr[-2000:]


def test_a_program_that_never_looks_ends_with_an_error() -> None:
    done = run_on_ranks(2, SUPPORT / "stale_halo_program.py", "exit", timeout=60)
    assert done.stdout.count("all holds") == 2 and done.returncode != 0
    assert "rank 1 has sent no data" in done.stderr


@pytest.mark.most(1)
@pytest.mark.parametrize(
    "case",
    [
        *("peer fail 1 exchange", "mpi exit 0 exchange"),
        *long_variants(["peer exit 1 exchange", "mpi exit 1 exchange", "peer exit 0 gather"]),
        *long_variants(["mpi exit 2 gather", "mpi fail 0 gather"]),
    ],
)
def test_a_rank_that_ends_early_ends_all(case: str) -> None:
    """At once, although their time-out would be minutes."""
    done = run_on_ranks(3, SUPPORT / "diverging_ranks_program.py", *case.split(), timeout=60)
    assert done.returncode != 0 and "not noticed" not in done.stdout
    words = "ended its program before the others" if "exit" in case else "ZeroDivisionError"
    assert words in done.stderr, done.stderr[-2000:]


@pytest.mark.parametrize("transport", ["peer", *long_variants(["mpi"])])
def test_a_rank_that_is_done_may_end_while_others_wait(transport: str) -> None:
    """Rank 1 waits for rank 2 for seconds when rank 0 has ended."""
    done = run_on_ranks(
        3, SUPPORT / "diverging_ranks_program.py", transport, "done", "0", "-", timeout=60
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("case", ["peer type 1 exchange", *long_variants(["mpi type 0 exchange"])])
def test_a_plan_that_one_rank_has_and_another_lacks_ends_all(case: str) -> None:
    done = run_on_ranks(3, SUPPORT / "diverging_ranks_program.py", *case.split(), timeout=60)
    assert done.returncode != 0 and "not noticed" not in done.stdout
    assert "has ended" not in done.stderr, done.stderr[-2000:]
    # Each rank prints the error of another one, so it says "rank 0", not "this rank".
    told = r"rank \d is out of step with rank \d: it has begun .*, and rank \d has begun "
    assert re.search(told, done.stderr)


@pytest.mark.most(1)
@pytest.mark.parametrize("what", ["peer plan", "mpi finish", *long_variants(["mpi plan"])])
def test_plans_in_another_order_end_all(what: str) -> None:
    """At once, although each rank waits for the others, and all have begun as many exchanges."""
    case, ranks = [*what.split(), "1", "exchange"], 4 if "finish" in what else 3
    done = run_on_ranks(ranks, SUPPORT / "diverging_ranks_program.py", *case, timeout=60)
    assert done.returncode != 0 and "not noticed" not in done.stdout
    assert "runs a different plan" in done.stderr, done.stderr[-2000:]
    assert "the same order, with arrays of the same types" in done.stderr


def test_a_job_ends_although_a_rank_never_makes_the_first_call() -> None:
    """It waits in a call of MPI, so MPI_Finalize would wait for it."""
    program, seconds = SUPPORT / "communicator_program.py", {TIMEOUT: "1"}
    done = run_on_ranks(2, program, "absent", timeout=40, **seconds)
    assert done.returncode != 0 and "rank 1 has sent no message for 1 s" in done.stderr
    assert "do not make a call that rank 0 has given up; the job is aborted" in done.stderr


@pytest.mark.most(1)
@pytest.mark.each_value
@pytest.mark.parametrize("transport", ["peer", "mpi"])
@pytest.mark.parametrize(
    "what", ["array", "close_plan", *long_variants(["keyword", "start", "close"])]
)
def test_a_call_that_fails_on_one_rank_fails_on_all(transport: str, what: str) -> None:
    """At once, and so do later ones; no rank takes the values of the next exchange."""
    program = SUPPORT / "lonely_error_program.py"
    done = run_on_ranks(3, program, transport, what, timeout=60)
    lines = [line for line in done.stdout.splitlines() if " call " in line]
    assert len(lines) == 6 and "right" not in done.stdout and "wrong" not in done.stdout, lines
    cause = "rank 1 closes" if what.startswith("close") else "rank 1 failed: "
    assert all(cause in line for line in lines if "rank 1 call" not in line), lines


@pytest.mark.most(1)
@pytest.mark.parametrize("transport", ["peer", "mpi"])
def test_a_late_rank_alone_is_named_and_no_exchange_is_skipped(transport: str) -> None:
    program = SUPPORT / "lonely_error_program.py"
    done = run_on_ranks(3, program, transport, "late", timeout=60, GROUNDSWELL_TIMEOUT="0.75")
    lines = [line for line in done.stdout.splitlines() if re.match("rank [02] call", line)]
    assert len(lines) == 6 and all("rank 1 has sent no data" in line for line in lines), lines
    assert "wrong" not in done.stdout


def test_ranks_go_on_after_errors_that_all_of_them_raise() -> None:
    done = run_on_ranks(3, SUPPORT / "lonely_error_program.py", "peer", "alike", timeout=60)
    assert done.returncode == 0 and done.stdout.count("InputError") == 12, done.stderr[-2000:]
    assert done.stdout.count("call 4 right") == 3


PHASES = ("set-up", "tuning", "start", "collective", "gather-scatter", "close")


@pytest.mark.parametrize("phase", ["finish", *long_variants(PHASES)])
@pytest.mark.parametrize("transport", ["peer", "mpi"])
def test_a_rank_is_killed_and_the_others_end(transport: str, phase: str, tmp_path: Path) -> None:
    """The launcher leaves them alone, and may hang itself after two calls of MPI_Abort."""
    program = [sys.executable, str(SUPPORT / "killed_program.py"), transport, phase, str(tmp_path)]
    command = [launcher(), "--continuous", "--oversubscribe", "-n", "3", *program]
    with subprocess.Popen(command, env=environment()) as process:
        try:
            await_end(process, tmp_path, seconds=30)
        finally:
            process.kill()
    found = [path.read_text() for path in tmp_path.iterdir()]
    assert "not noticed" not in found and any("noticed: rank 1" in text for text in found), found


def await_end(process: subprocess.Popen[bytes], folder: Path, *, seconds: float) -> None:
    """Wait until three processes have left a file each in the folder, and have ended.

    Args:
        seconds: from the end of the first process to that of the last one.
    """
    until = math.inf
    while process.poll() is None:
        pids = [int(path.name) for path in folder.iterdir()]
        running = [pid for pid in pids if Path(f"/proc/{pid}/exe").exists()]
        if len(pids) == 3 and not running:
            return
        if len(running) < len(pids):
            until = min(until, time.monotonic() + seconds)
        assert time.monotonic() < until, f"processes {running} run still"
        time.sleep(0.1)


EXCHANGE = """
from groundswell.exchange import Domain
domain = Domain((60, 50), 1, periodic=True, transport="peer")
u = domain.zeros()
domain.interior(u)[...] = domain.rank
domain.exchange(u)
print("row below:", u[0, 25])
"""


def test_a_full_shared_memory_folder_does_not_matter() -> None:
    """Peer memory has no name in a file system; MPI's own segments are replaced by messages."""
    small = "mount -t tmpfs -o size=64k tmpfs /dev/shm"
    if subprocess.run(["unshare", "-m", "sh", "-c", small], check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    command = [launcher(), "--oversubscribe", "-n", "2", sys.executable, "-c", EXCHANGE]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{small} && exec {shlex.join(command)}"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert {"row below: 1.0", "row below: 0.0"} <= set(done.stdout.splitlines()), done.stdout


def test_no_room_for_shared_memory_on_one_rank_ends_all() -> None:
    limit = """
import resource, signal
from groundswell.exchange.mpi_communicator import get_communicator
if get_communicator().rank == 1:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
"""
    done = run_on_ranks(3, "-c", limit + EXCHANGE, timeout=30)
    assert done.returncode != 0 and "row below" not in done.stdout
    assert done.stderr.count("BackendError: processes cannot share memory: ") >= 2, done.stderr


def test_a_rank_may_exchange_another_array_than_before() -> None:
    case = ["peer", "array", "1", "exchange"]
    done = run_on_ranks(3, SUPPORT / "diverging_ranks_program.py", *case, timeout=60)
    assert done.returncode == 0 and done.stdout.count("not noticed") == 3, done.stderr[-2000:]


# --- on one rank ----------------------------------------------------------------------------------


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "uint8"])
def test_a_periodic_rank_is_its_own_neighbour(dtype: str, corners: bool) -> None:
    """Along an axis of one point, one shorter than its layers, and one that is not periodic."""
    backend, cut = open_backend("cpu"), decompose((1, 2, 5), 1, (True, True, False))
    ghosts = Ghosts((2, 3, 1), (3, 1, 2), corners)
    whole = numbered(cut.shape, dtype)
    array = backend.to_device(before(whole, cut, 0, 3))
    halo = HaloExchange(backend, SerialCommunicator(), cut, [GhostField(array, (3, 3, 3), ghosts)])
    assert halo.path == "copies within one rank" and halo.bytes == 0
    halo()
    assert np.array_equal(array, after(whole, cut, 0, ghosts, 3))


def test_blocks_for_another_number_of_ranks_are_refused() -> None:
    with pytest.raises(InputError, match="4 blocks for 1 rank;"):
        HaloExchange(open_backend("cpu"), SerialCommunicator(), decompose((8, 8), 4), [])


def test_launches_that_poison_keep_their_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that has put the launches into its step may forget the exchange."""
    backend, cut = CpuBackend(), decompose((6, 6), 1, True)
    field = GhostField(backend.zeros((8, 8), np.float64), (1, 1), uniform(1, 2))
    copied: list[Any] = []

    def watched(host: Any) -> Any:
        array = CpuBackend.to_device(backend, host)
        copied.append((np.isnan(host).all(), weakref.ref(array.base)))
        return array

    monkeypatch.setattr(backend, "to_device", watched)
    launches = HaloExchange(backend, SerialCommunicator(), cut, [field], poison=True).launches
    gc.collect()
    (poison,) = [memory for is_poison, memory in copied if is_poison]
    assert launches and poison() is not None


# --- sizes that no test can allocate --------------------------------------------------------------


def test_launches_of_many_chunks_use_the_long_axis_of_a_grid() -> None:
    """The second and third axes of a CUDA grid end at 65,535 blocks."""
    assert geometry(Blocks(70_001, 256)) == ((70_001,), (256,))
    with pytest.raises(BackendError, match="exceeds the device's limit"):
        geometry(Blocks(BEYOND, 256))


def test_boxes_beyond_2_to_the_31_bytes_are_told_exactly() -> None:
    """A face of 30,000 x 30,000 doubles, in an array of 100 planes: a stride of 7.2 GB."""
    n, step = 30_000, 8
    inside = StridedBox(2**44 + 8, (n * n * step, n * step, step))
    packed = StridedBox.packed(2**45, (1, n, n), step)
    row = Copy((1, n, n), inside, packed, "float64", "float64").row()
    assert row[:3] == [RAW[8], 1, n * n] and row[-1] * 8 == 7_200_000_000 > BEYOND
    side = StridedBox(2**44, (n * step, n * n * step, step))
    row = Copy((n, 100, 3), side, packed, "float64", "float32").row()
    assert row[1:3] == [100, 3] and row[4:7] == [n * step, n * n * step, step]
    assert row[-1] == n * 100 * 3


def test_places_in_huge_arrays_are_found_exactly() -> None:
    """A view of one value with the shape and strides of terabytes; nothing is touched."""
    one = np.zeros(1, np.float32)
    n = 40_000
    huge = np.lib.stride_tricks.as_strided(one, (n, n, n), (4 * n * n, 4 * n, 4))
    place = StridedBox.in_array(open_backend("cpu"), huge, (2, 2, 2), (n - 4, -1, 5))
    assert place.address == one.ctypes.data + 4 * ((n - 2) * n * n + n + 7)
    assert place.strides == (6_400_000_000, 160_000, 4)


def test_chunks_beyond_2_to_the_31_values_have_no_gaps() -> None:
    """Each one begins where the one before it ends."""
    size = BEYOND + 7
    box, first, count, message = _chunks(np.array([size]), [5]).T
    ends = first + count
    assert np.array_equal(first, [0, *ends[:-1]]) and ends[-1] == size
    assert (count > 0).all() and (count <= CHUNK).all()
    assert not box.any() and (message == 5).all()


@pytest.mark.parametrize("aggregate", [True, False])
def test_messages_beyond_2_to_the_31_bytes_are_counted_exactly(aggregate: bool) -> None:
    n = 30_000
    cut = decompose((8, n, n), 2, processes=(2, 1, 1))
    one = np.zeros(1)
    huge = np.lib.stride_tricks.as_strided(one, (8, n, n), (8 * n * n, 8 * n, 8))
    fields = [GhostField(huge, (2, 0, 0), Ghosts((k, 0, 0), (k, 0, 0))) for k in (1, 2)]
    planned = HaloMessages(open_backend("cpu"), cut, 0, fields)
    messages = planned.messages(aggregate=aggregate)
    assert sum(m.send_bytes for m in messages) == 3 * 8 * n * n > BEYOND
    offsets = [p.offset for m in messages for p in m.receives]
    assert offsets == ([0, 8 * n * n] if aggregate else [0, 0])
    places, size = offsets_of([m.send_bytes for m in messages])
    assert places[-1] + messages[-1].send_bytes == size
