"""Materials of rows in layered media, the height of a row in metres, and how many rows."""

from __future__ import annotations

H, COUNT = 100.0, 24
WATER = {"vp": 1500.0, "vs": 0.0, "rho": 1000.0}
SOFT = {"vp": 2600.0, "vs": 1400.0, "rho": 2050.0}
ROCK = {"vp": 4500.0, "vs": 2600.0, "rho": 2600.0}
