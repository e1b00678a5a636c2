"""What a command refuses."""


class CommandError(Exception):
    """A message for the terminal, and the exit status: 2 for what was typed wrong, 1 for what did not work out."""

    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status
