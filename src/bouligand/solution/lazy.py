"""Values that are computed when they are first asked for."""


class lazy:  # noqa: N801  (used like a function, as Python's own is)
    """A value that is computed when it is first asked for, and kept. (Python's own ``cached_property`` takes a lock, which in
    Python 3.11 costs as much as a landing on a guard.)"""

    def __init__(self, compute):
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
