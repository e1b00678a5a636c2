"""A shortcut through Numba's front end: functions of the core go through those passes only that do something to them.

The core has no closures, no ``with``, no loops over mixed tuples; and without Numba's runtime no references are counted, so
that nobody has to know where a variable is used last. See `compiling` for when this is done.
"""

import contextlib
import types as python

from numba.core import postproc, transforms
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

from .lowering import ShortLower
from .once import replaced

_NEEDED = (
    "translate_bytecode",
    "fixup_args",
    "Rewrite dynamic raises",
    "reconstruct_ssa",
    "nopython_type_inference",
    "strip_phis",
    "native_lowering",
    "nopython_backend",
)
_short = False  # within `needed_passes`


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "bouligand_lowering"

    @property
    def lowering_class(self):
        return ShortLower


def _in_order(processor, *args, **kwargs):
    """What is left of Numba's work after each pass: blocks in order. Lives of variables are worked out if somebody asks."""
    function = processor.func_ir
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)


class _Passes(PassManager):
    """Runs each pass, without a look at what it has left."""

    def _runPass(self, index, one, state):
        if one.name() in ("reconstruct_ssa", "strip_phis"):  # (nothing else is compiled meanwhile)
            with replaced(postproc.PostProcessor, "run", _in_order):
                one.run_pass(state)
        else:
            one.run_pass(state)
        if one.name() == "translate_bytecode":
            _in_order(postproc.PostProcessor(state.func_ir))


def _is_plain(code):
    """Whether there are no closures, and neither ``with`` nor ``try``."""
    return not code.co_exceptiontable and not any(isinstance(constant, python.CodeType) for constant in code.co_consts)


class CoreCompiler(CompilerBase):
    """Numba's pipeline, for functions of the core."""

    def define_pipelines(self):
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        if not _short or not _is_plain(self.state.func_id.code):
            return [usual]
        passes = _Passes(usual.pipeline_name)
        for one, text in usual.passes:
            if one.name() in _NEEDED:
                passes.add_pass(_Lowering if one is NativeLowering else one, text)
        passes.finalize()
        return [passes]


@contextlib.contextmanager
def needed_passes():
    """Eight of Numba's twenty passes, and no analysis after each ("passes")."""
    global _short
    before, _short = _short, True
    try:
        yield
    finally:
        _short = before
