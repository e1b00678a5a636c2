"""How users' functions divide: floats as NumPy's (a division by zero is inf or nan), integers as Python's (it is an exception).

Numba knows the two alone, "numpy" and "python". In the first, ``3 // n`` and ``3 % n`` are 0 where n is 0, without a word; in the
second, every division of floats has a test of its own.
"""

from numba.core.callconv import NumpyErrorModel, error_models

MODEL = "numpy, integers as in Python"  # the value of Numba's option ``error_model``


class _IntegersRaise(NumpyErrorModel):
    """NumPy's error model, but for integers that are divided by zero."""

    def fp_zero_division(self, builder, exc_args=None, loc=None):
        if not exc_args or not exc_args[0].startswith("integer"):
            return super().fp_zero_division(builder, exc_args, loc)
        self.call_conv.return_user_exc(builder, ZeroDivisionError, exc_args, loc)
        return True


error_models[MODEL] = _IntegersRaise
