"""Codecs that compress messages: MPC, lossless, and ZFP, at a fixed rate.

A codec packs values as it encodes them, and unpacks them as it decodes. See coder.py.
"""
