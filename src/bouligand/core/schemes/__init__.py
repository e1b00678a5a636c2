"""Runge-Kutta schemes: their coefficients as data, and as compiled code."""
