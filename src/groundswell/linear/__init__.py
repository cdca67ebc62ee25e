"""Systems of linear equations whose matrix is known by what it does to vectors."""
