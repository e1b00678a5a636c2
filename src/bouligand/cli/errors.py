"""The error with which a command ends."""


class CommandError(Exception):
    """A message for the terminal, and the exit status: 2 for a mistake in the command line, 1 for any other failure."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status
