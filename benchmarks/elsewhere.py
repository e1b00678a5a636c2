"""Programs that need an environment of their own: a process that answers requests, one JSON object a line."""

import atexit
import json
import os
import subprocess
from functools import cache


class Elsewhere:
    """A server script, run by the Python that an environment variable names. ImportError if it names none."""

    def __init__(self, script, variable, package):
        python = os.environ.get(variable)
        if not python:
            raise ImportError(f"{variable} does not name the Python of an environment with {package}")
        self.process = subprocess.Popen(
            [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        atexit.register(self.process.terminate)

    def ask(self, **request):
        """The answer to a request; RuntimeError with what the server says, if it failed."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while not (line := self.process.stdout.readline()).startswith("answer "):
            if not line:
                raise RuntimeError("the process has ended")
        answer = json.loads(line.removeprefix("answer "))
        if "failed" in answer:
            raise RuntimeError(answer["failed"])
        return answer


@cache
def elsewhere(script, variable, package):
    """One process for each script."""
    return Elsewhere(script, variable, package)
