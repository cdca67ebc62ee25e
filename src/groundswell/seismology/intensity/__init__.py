"""Intensity measures of ground motion, such as response spectra, RotD50 and Arias intensity.

`motion` derives acceleration from recorded velocity, `oscillator` steps damped oscillators and
`rotation` turns the horizontal components. `measures` has the integrals and durations. `spectra`
computes the response spectra of many records with a kernel, and `seismograms` all measures of the
receivers of a run. `maps` is the part of a solver that follows oscillators at the surface while the
waves pass.
"""
