"""A program for three ranks, one of which does something else than the others.

    mpiexec -n 3 python diverging_ranks_program.py TRANSPORT HOW WHO exchange|gather

HOW: rank WHO ends its program by sys.exit ("exit") or an exception ("fail"), or exchanges an array
of another type ("type"), while the others exchange what they have exchanged before, or gather.
"array": another array of the same type, which is no error. "plan": the same two plans in another
order. "finish": two plans with sweeps of two axes, on four ranks, finished in another order.
"done": all do the same, and rank WHO, which has no more to wait for, ends while others wait for the
last rank.
"""

from __future__ import annotations

import sys
import time

from groundswell.exchange import Domain


def main(transport: str, how: str, who: str, others: str) -> None:
    wraps, processes = how != "done", (2, 2) if how == "finish" else (3, 1)
    domain = Domain((300, 200), 1, periodic=wraps, processes=processes, transport=transport)
    u = domain.zeros()
    for _ in range(3):
        domain.exchange(u)
    if how == "done":
        time.sleep(3 * (domain.rank == 2))
        domain.exchange(u)
        return
    if how == "plan":
        plans = [domain.plan(u), domain.plan(domain.zeros())]
        for plan in plans[:: -1 if domain.rank == int(who) else 1]:
            plan()
    elif how == "finish":
        plans = [domain.plan(domain.zeros(), sweeps=True) for _ in range(2)]
        for plan in plans:
            plan.start()
        for plan in plans[:: -1 if domain.rank == int(who) else 1]:
            plan.finish()
    elif domain.rank == int(who):
        if how == "exit":
            sys.exit(0)
        if how == "fail":
            raise ZeroDivisionError("mine")
        u = domain.zeros("float32" if how == "type" else "float64")
    if others == "exchange":
        domain.exchange(u)
    domain.gather(u)
    print("not noticed")


if __name__ == "__main__":
    main(*sys.argv[1:])
