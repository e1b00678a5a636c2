"""The command ``bouligand``: `main` reads the arguments, `run` and `reproduce` are the subcommands, one a file.

``bouligand run`` simulates one of the `ready_models` or of the `robot_files`, both of which are a `Simulation`; it prints an
`event_table` and saves `figures` and the other `outputs` in a folder.
"""
