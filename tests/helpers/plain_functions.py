"""Functions that are not decorated, to be called as attributes of a module."""


def doubled(x):
    return 2.0 * x


def halved(x):
    """(Numba is told how to compute it, in tests/system/test_helpers.py.)"""
    raise NotImplementedError
