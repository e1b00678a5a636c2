"""The workspaces of the compiled core, and their reuse from one run to the next."""
