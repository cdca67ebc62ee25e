"""Rock that yields on the staggered grid."""
