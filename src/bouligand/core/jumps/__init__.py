"""Jumps of the state at events: what fires at one instant, and on which side of each guard it leaves the state."""
