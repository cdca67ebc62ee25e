"""Python objects as lines of text, which a parent and its workers exchange."""

from __future__ import annotations

import base64
import pickle
from typing import Any

END = "end"  # asks a worker to end


def encode(content: object) -> bytes:
    """An object as a line."""
    return base64.b64encode(pickle.dumps(content)) + b"\n"


def decode(line: bytes) -> Any:
    """The object of a line; lines come only from the processes of this ensemble."""
    return pickle.loads(base64.b64decode(line))
