"""Transports of messages between ranks. All transports send the same bytes."""
