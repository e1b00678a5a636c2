"""The subcommands of ``bouligand``, one a file, each with ``add(commands)``: its arguments, and what runs them."""
