"""How messages get from rank to rank. Every transport sends the same bytes."""
