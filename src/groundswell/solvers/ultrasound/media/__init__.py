"""Media of ultrasound cases: the section `[medium]` and the properties at the points of a grid."""

from __future__ import annotations

from groundswell.solvers.ultrasound.media.build import MediumDescription as MediumDescription
from groundswell.solvers.ultrasound.media.build import build_medium as build_medium
from groundswell.solvers.ultrasound.media.case import MediumSection as MediumSection
