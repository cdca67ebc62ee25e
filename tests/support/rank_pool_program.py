"""A rank of a pool: runs the programs that the tests' process sends it, one after another.

mpiexec -n 4 python rank_pool_program.py SOCKET
"""

from __future__ import annotations

import io
import os
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from multiprocessing.connection import Client


def run(program: str, arguments: list[str]) -> tuple[str, str | None]:
    """What a program printed, and the traceback of the exception that ended it."""
    sys.argv = [program, *arguments]
    with redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(program, run_name="__main__")
        except BaseException:
            return printed.getvalue(), traceback.format_exc()
    return printed.getvalue(), None


def main() -> None:
    """Go on until the tests' process closes the connection."""
    with Client(sys.argv[1]) as tests:
        tests.send(int(os.environ["OMPI_COMM_WORLD_RANK"]))
        while True:
            try:
                program, arguments = tests.recv()
            except EOFError:
                return
            tests.send(run(program, arguments))


if __name__ == "__main__":
    main()
