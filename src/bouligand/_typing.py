"""Type aliases and protocols that several signatures share.

Modules import this for type checkers only (``if TYPE_CHECKING:``), so that it costs nothing at run time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

# ------------------------------------------------------------------------------------------------------------ arrays

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
ComplexArray: TypeAlias = NDArray[np.complex128]
RecordArray: TypeAlias = NDArray[np.void]  # structured: the records of core.state
BoolArray: TypeAlias = NDArray[np.bool_]
SignArray: TypeAlias = NDArray[np.int8]  # modes: -1 and +1

# None in cases that most users never meet: checkers accept its use without a test for None (typeshed has it under this name)
MaybeNone: TypeAlias = Any

# ------------------------------------------------------------------------------------------------- arguments and options

Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
Guard: TypeAlias = str | int | np.integer[Any]  # by name or by number
Guards: TypeAlias = Guard | Iterable[Guard]
PerGuard: TypeAlias = (
    ArrayLike | Mapping[str, float] | Mapping[int, float]
)  # one value for all, one each, or some by name
Parameters: TypeAlias = ArrayLike | Mapping[str, Number]
State: TypeAlias = ArrayLike | Mapping[str, Number]  # one value for each state, in order or by name
TimeSpan: TypeAlias = tuple[float, float] | list[float] | list[int] | NDArray[np.floating[Any] | np.integer[Any]]
Observation: TypeAlias = str | Iterable[str] | Callable[[FloatArray], tuple[ArrayLike, ArrayLike]]
Terminal: TypeAlias = Guards | Mapping[str, int] | Mapping[int, int]
Path: TypeAlias = str | os.PathLike[str]

Compile: TypeAlias = Literal["auto"] | bool
JacobianSource: TypeAlias = Literal["auto", "exact", "differences"]
Method: TypeAlias = Literal["auto", "dopri5", "dop853", "bosh3", "stiff"]
Projection: TypeAlias = Literal[2, 3, 5, "tangent", "midpoint", "rk4"]
Side: TypeAlias = Literal["left", "right"]
Status: TypeAlias = Literal["running", "finished", "terminated", "failed"]

OnFailure: TypeAlias = Literal["raise", "return"]
OnGraze: TypeAlias = Literal["raise", "go on"]


class StepperOptions(TypedDict, total=False):
    """The keyword arguments of `Stepper`, for functions that pass them on."""

    rtol: float
    atol: ArrayLike | None
    eps: PerGuard | None
    projection: Projection | None
    method: Method
    t_eval: ArrayLike | None
    max_step: float
    max_steps: int
    terminal: Terminal | None
    breakpoints: ArrayLike | None
    b0: ArrayLike | None
    on_graze: OnGraze


class SolveOptions(StepperOptions, total=False):
    """The keyword arguments of `solve`, for functions that pass them on."""

    on_failure: OnFailure
    progress: bool | str | None


# ------------------------------------------------------------------------------------------------------ user functions
# (named after their arguments, which is what one wants to see in a checker's message)


class LowLevelFunction(Protocol):
    """A ``scipy.LowLevelCallable`` (SciPy itself ships no types)."""

    @property
    def function(self) -> Any: ...

    @property
    def user_data(self) -> Any: ...

    @property
    def signature(self) -> Any: ...


class Function_t_x_p(Protocol):
    """``function(t, x, p) -> values``: h, f0, Dh, Dt_h, Dp_h, control."""

    def __call__(self, t: float, x: FloatArray, p: FloatArray, /) -> ArrayLike: ...


class Function_t_x_p_out(Protocol):
    """``function(t, x, p, out)``: the same, writing its values to ``out``."""

    def __call__(self, t: float, x: FloatArray, p: FloatArray, out: FloatArray, /) -> None: ...


class Function_t_x_b_p(Protocol):
    """``function(t, x, b, p) -> values``: f, Df, Dp_f."""

    def __call__(self, t: float, x: FloatArray, b: FloatArray, p: FloatArray, /) -> ArrayLike: ...


class Function_t_x_b_p_dx(Protocol):
    """``function(t, x, b, p, out)``: the same, writing its values to ``out``."""

    def __call__(self, t: float, x: FloatArray, b: FloatArray, p: FloatArray, out: FloatArray, /) -> None: ...


class Function_t_x_k_p(Protocol):
    """``function(t, x, k, p) -> values``: g, Dh_row."""

    def __call__(self, t: float, x: FloatArray, k: int, p: FloatArray, /) -> ArrayLike: ...


class Function_t_x_k_p_out(Protocol):
    """``function(t, x, k, p, out)``: the same, adding (g) or writing (Dh_row) its values to ``out``."""

    def __call__(self, t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray, /) -> None: ...


class Function_t_x_ks_p_out(Protocol):
    """``g_many(t, x, ks, p, out)``: g of several guards, a column of ``out`` each."""

    def __call__(self, t: float, x: FloatArray, ks: IntArray, p: FloatArray, out: FloatArray, /) -> None: ...


class Function_t_x_b_p_dx_out(Protocol):
    """``fh(t, x, b, p, dx, out)``: f and h at once."""

    def __call__(
        self, t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray, out: FloatArray, /
    ) -> None: ...


class Function_t_x_fired_b_p(Protocol):
    """``jump_many(t, x, fired, b, p) -> xnew``."""

    def __call__(self, t: float, x: FloatArray, fired: FloatArray, b: FloatArray, p: FloatArray, /) -> ArrayLike: ...


class Function_t_x_fired_b_p_out(Protocol):
    """``jump_many(t, x, fired, b, p, xnew)``: the same, changing xnew, which holds x before."""

    def __call__(
        self, t: float, x: FloatArray, fired: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray, /
    ) -> None: ...


Function: TypeAlias = Function_t_x_p | Function_t_x_p_out | LowLevelFunction
ModeFunction: TypeAlias = Function_t_x_b_p | Function_t_x_b_p_dx | LowLevelFunction
GuardFunction: TypeAlias = Function_t_x_k_p | Function_t_x_k_p_out | LowLevelFunction
GuardsFunction: TypeAlias = Function_t_x_ks_p_out | LowLevelFunction
BothFunction: TypeAlias = Function_t_x_b_p_dx_out | LowLevelFunction
JumpFunction: TypeAlias = Function_t_x_fired_b_p | Function_t_x_fired_b_p_out | LowLevelFunction
