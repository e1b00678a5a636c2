"""The compiled core: works on plain arrays and scalars, and imports NumPy and Numba only."""
