"""One run: options, memory, the compiled loop, and what went wrong."""
