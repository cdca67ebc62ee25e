"""
A first earthquake
==================

We run the case that `groundswell new earthquake` writes, and look at its seismograms.
"""

# %%
# The template
# ------------
# Each solver has a commented case. We shorten it to two seconds.
import matplotlib.pyplot as plt

import groundswell as gs
from groundswell import registry
from groundswell.case import read_case

text = registry.find("earthquake").read_template()
case = read_case(text, settings={"time.duration": "2 s"})

# %%
# The run
# -------
# The results are xarray objects.
result = gs.run(case, folder="results_first_case", quiet=True, overwrite=True)
result.seismograms.sel(station="GS.NORTH").plot.line(x="time")
plt.show()
