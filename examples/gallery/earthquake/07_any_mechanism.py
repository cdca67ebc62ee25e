"""
Three runs for every earthquake
===============================

Three runs with a force at a station record the strain at a point below. They give the seismograms
of any earthquake there, such as these with three mechanisms (:doc:`/green-tensors`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.seismology.green.slip import PointFinder, SlipRows
from groundswell.seismology.green.synthesis import seismograms
from groundswell.seismology.green.tensor import read_tensors
