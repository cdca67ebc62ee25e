"""Codecs of floating-point numbers in device memory."""
