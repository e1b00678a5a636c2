"""Files that are there as a whole or not at all, with a hash of their content in front: what a crash, a full disk or a bad copy
has damaged is not run. (Who may have written them is another question: see `trusted`.)
"""

import contextlib
import hashlib
import os
import uuid

_DIGEST = hashlib.sha256().digest_size
_FOR_THIS_USER = 0o600


def sealed(data):
    """The data with a hash in front."""
    return hashlib.sha256(data).digest() + data


def unsealed(content):
    """What `sealed` was given."""
    data = content[_DIGEST:]
    if hashlib.sha256(data).digest() != content[:_DIGEST]:
        raise ValueError("it is damaged")
    return data


def write_whole(path, content):
    """Write a file that only this user can read; it is there as a whole, or not at all."""
    unfinished = f"{path}.tmp.{uuid.uuid4().hex[:16]}"
    try:
        # (O_BINARY: Windows would change ends of lines)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(unfinished, flags, _FOR_THIS_USER), "wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
