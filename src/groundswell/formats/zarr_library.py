"""Zarr, the library of chunked arrays in folders."""

from __future__ import annotations

from groundswell.errors import InputError, reason_of


def require_zarr() -> None:
    """Check that zarr can be imported, also by xarray.

    Raises:
        InputError: it cannot. numcodecs, a part of it, fails next to zfpy 1.0.1.post0.
    """
    try:
        import zarr  # noqa: F401
    except Exception as error:
        raise InputError(
            f"zarr cannot be imported ({reason_of(error)}); run pip install 'zarr>=3.0.8', and if "
            "zfpy 1.0.1.post0 is installed, pip install zfpy==1.0.1"
        ) from error
