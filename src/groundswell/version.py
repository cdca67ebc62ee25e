"""The version of Groundswell."""

__version__ = "0.2.0"
