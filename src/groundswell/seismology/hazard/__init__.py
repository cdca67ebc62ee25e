"""Probabilistic seismic hazard from ruptures with annual rates and their ground motion.

`nrml` and `tables` read ruptures with annual rates. `intensities` reads the simulated ground motion
of their variations, and `ground_motion` predicts it by published models. `curves` computes rates of
exceedance, probabilities and maps, and `disaggregation` the contributions of ruptures. `command` is
`groundswell hazard`, and `case` defines its input file.
"""
