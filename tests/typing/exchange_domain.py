"""What mypy sees of domains: it knows the options of their exchanges by name and type."""

from __future__ import annotations

from groundswell.exchange import Domain, Options

OPTIONS: Options = {"transport": "mpi", "codec": "mpc"}


def domains() -> list[Domain]:
    """Blocks, layers and options as users write them."""
    return [
        Domain((24, 32), 2, periodic=(False, True), processes=(0, 1), corners=False, **OPTIONS),
        Domain([24, 32], (1, (0, 2)), blocks=((10, 14), (32,)), aggregate=True, poison=False),
        Domain((24,), transprot="mpi"),  # type: ignore[call-arg]
        Domain((24,), transport=True),  # type: ignore[arg-type]
    ]


def neighbour(domain: Domain) -> int | None:
    """The rank of an adjacent block."""
    return domain.neighbours.get((0, 1))
