"""The driven hexapod: with the hexapod's clocks it moves as that one; its rows of Dh are those of h."""

import numpy as np

import bouligand as bd
from bouligand.models.driven_hexapod import START


def test_with_usual_clocks_it_is_the_hexapod():
    driven = bd.solve(bd.models.driven_hexapod(), (0.0, 0.6), START, rtol=1e-9)
    plain = bd.solve(bd.models.hexapod(), (0.0, 0.6), START[:12], rtol=1e-9)
    assert np.allclose(driven.x[-1, :12], plain.x[-1], rtol=0, atol=1e-7)
    assert list(driven.events.name) == list(plain.events.name)


def test_rows_of_guards():
    system = bd.models.driven_hexapod()
    x = START + np.random.default_rng(0).uniform(-0.1, 0.1, 24)
    h, p, e = system.function("h"), system.parameters(), 1e-6
    by_difference = np.array([(h(0.0, x + e * d, p) - h(0.0, x - e * d, p)) / (2 * e) for d in np.eye(24)]).T
    for k in range(6):
        assert np.allclose(system.function("Dh_row")(0.0, x, k, p), by_difference[k], atol=1e-8)
