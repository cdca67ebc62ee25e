"""Strain Green tensors: the strain that a force at a station causes, and seismograms from it.

By reciprocity, the displacement at a station along an axis due to a moment at a point is the
contraction of the moment with the strain that a force at the station along this axis causes there
(Aki & Richards 2002, section 3.3; Zhao, Chen & Jordan 2006, Bull. Seism. Soc. Am. 96, 1753). Three
runs with forces along three axes thus yield the seismograms of any earthquake at these points.
"""
