"""Files with a hash of their content in front: what a crash, a full disk or a bad copy has damaged is not run."""

import hashlib
import os
import pathlib
import pickle
import uuid

_DIGEST = hashlib.sha256().digest_size


def read_checked(path):
    """What `write_checked` wrote, unpickled."""
    content = pathlib.Path(path).read_bytes()
    if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
        raise ValueError(f"{path} is damaged")
    return pickle.loads(content[_DIGEST:])


def write_checked(path, data):
    """Write pickled data with a hash of it in front; the file is there as a whole, or not at all."""
    unfinished = pathlib.Path(f"{path}.tmp.{uuid.uuid4().hex[:16]}")
    try:
        unfinished.write_bytes(hashlib.sha256(data).digest() + data)
        os.replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
