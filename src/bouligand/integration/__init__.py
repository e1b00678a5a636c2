"""One integration: options, the start word, the stepper, and failures."""
