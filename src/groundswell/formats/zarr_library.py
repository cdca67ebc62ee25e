"""Loads zarr, the library of Zarr stores.

numcodecs, which zarr needs, reads the version of zfpy if that is installed, and fails on versions
that are not three numbers, such as 1.0.1.post0. Stores do not use its codec, so that numcodecs may
as well not find zfpy.
"""

from __future__ import annotations

import importlib.metadata
import sys
from importlib import import_module
from typing import Any


def load_zarr() -> Any:
    """The module zarr, which xarray can then use as well."""
    if "numcodecs" not in sys.modules:
        _load_numcodecs()
    return import_module("zarr")


def _load_numcodecs() -> None:
    """Import numcodecs, with a version of zfpy that it can read, or without zfpy."""
    version = importlib.metadata.version

    def readable(distribution_name: str) -> str:
        found = version(distribution_name)
        if distribution_name == "zfpy" and not found.replace(".", "").isdigit():
            raise importlib.metadata.PackageNotFoundError(distribution_name)
        return found

    importlib.metadata.version = readable
    try:
        import_module("numcodecs")
    finally:
        importlib.metadata.version = version
