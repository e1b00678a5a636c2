"""The memory that the compiled core works on, and its reuse from one run to the next."""
