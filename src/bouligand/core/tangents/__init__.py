"""Perturbations along a recorded trajectory, forwards and backwards."""
