"""What is measured: `python -m benchmarks` runs all of it, `python -m benchmarks NAME` one."""
