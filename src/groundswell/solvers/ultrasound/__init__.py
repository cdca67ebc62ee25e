"""Ultrasound in heterogeneous, absorbing, nonlinear media: the k-space pseudospectral method."""

from __future__ import annotations
