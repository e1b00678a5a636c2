"""The only files that know the internals of Numba and LLVM."""
