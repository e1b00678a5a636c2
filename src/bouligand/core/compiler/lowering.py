"""From Numba's instructions to LLVM's, for functions that count no references and go through `pipeline`."""

from numba.core import ir
from numba.core.lowering import Lower


class ShortLower(Lower):
    """Variables are not deleted, and what was in one before is not looked at."""

    def lower_block(self, block):
        for one in block.body:
            self.loc = one.loc
            if type(one) is ir.Assign:
                self.storevar(self.lower_assign(self.typeof(one.target.name), one), one.target.name)
            else:
                self.lower_inst(one)

    def storevar(self, value, name, argidx=None):
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def loadvar(self, name):
        value = self._blk_local_varmap.get(name)
        return self.builder.load(self.getvar(name)) if value is None else value

    def lower_binop(self, result, expr, op):
        if expr.static_lhs is not ir.UNDEFINED or expr.static_rhs is not ir.UNDEFINED:
            return super().lower_binop(result, expr, op)
        # (without a look for rules about constants, of which there are none here)
        context, builder, kinds = self.context, self.builder, self.fndesc.calltypes[expr].args
        rules = context.typing_context.resolve_value_type(op)
        signature = rules.get_call_type(context.typing_context, kinds, {})
        pair = (expr.lhs.name, expr.rhs.name)
        pair = [
            context.cast(builder, self.loadvar(name), self.typeof(name), kind)
            for name, kind in zip(pair, kinds, strict=True)
        ]
        value = context.get_function(rules, signature)(builder, pair)
        return context.cast(builder, value, self.fndesc.calltypes[expr].return_type, result)
