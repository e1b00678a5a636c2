"""The compiled core: plain arrays and scalars, Numba, and nothing from the rooms around it."""
