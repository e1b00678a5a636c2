"""The main loop and its steps: smooth steps, hops onto guards, crossings."""
