"""The command ``bouligand``: `main` reads the arguments; `run`, `sweep`, `warm` and `reproduce` are the subcommands, one a file.

``bouligand warm`` compiles everything once.

``bouligand run`` simulates one of the `ready_models` or of the `robot_files`, both of which are a `Simulation`; it prints an
`event_table` and saves `figures` and the other `outputs` in a folder.
"""
