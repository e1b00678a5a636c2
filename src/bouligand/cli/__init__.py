"""The command ``bouligand``: each subcommand is a file with ``add(commands)``, its arguments and what runs them."""
