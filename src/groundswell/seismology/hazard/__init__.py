"""Probabilistic seismic hazard from ruptures with rates and their ground motion.

`nrml` and `tables` read ruptures with annual rates, `intensities` the simulated ground motion of
their variations, and `ground_motion` the predictions of published models. `curves` has the rates of
exceedance, probabilities and maps, `disaggregation` the ruptures behind them. `command` is
`groundswell hazard`, whose input file `case` describes.
"""
