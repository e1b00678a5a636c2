"""Blocks of control diagrams."""

import bouligand as bd

from . import Good, good

SIGNS = {"above_lo": 1.0, "above_hi": -1.0}


@good("blocks.thresholds")
def _():
    return Good(
        bd.blocks.thresholds, {"u": 0.0, "lo": -1.0, "hi": 1.0}, particular={"lo": [1.0, 2.0], "hi": [-1.0, -2.0]}
    )


@good("blocks.saturation")
def _():
    arguments = {"u": 0.0, "lo": -1.0, "hi": 1.0, **SIGNS}
    return Good(bd.blocks.saturation, arguments, particular={"lo": [1.0, 2.0], "hi": [-1.0, -2.0]})


@good("blocks.dead_zone")
def _():
    arguments = {"u": 0.0, "lo": -1.0, "hi": 1.0, **SIGNS}
    return Good(bd.blocks.dead_zone, arguments, particular={"lo": [1.0, 2.0], "hi": [-1.0, -2.0]})


@good("blocks.limited_integrator")
def _():
    return Good(bd.blocks.limited_integrator, {"rate": 0.5, **SIGNS, "scale": 1.0}, particular={"scale": [0.0, -1.0]})


@good("blocks.relay")
def _():
    arguments = {"below": "cold", "above": "warm", "state": 1, "low": 1.0, "high": 0.0}
    return Good(bd.blocks.relay, arguments, particular={"below": ["warm"], "above": ["cold"], "state": [-1, 0.5]})


@good("blocks.together")
def _():
    other = bd.blocks.relay("dry", "wet", 3, 1.0, 0.0)

    def together(relays):
        return bd.blocks.together(other, relays)

    wrong = [other, {"direction": {}, "jumps": None}, {"direction": {}}]
    return Good(together, {"relays": bd.blocks.relay("cold", "warm", 1, 1.0, 0.0)}, particular={"relays": wrong})
