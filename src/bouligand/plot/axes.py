"""Axes to draw on."""


def new_axes(ax, count=1):
    """The given axes, or new ones: one, or a row of so many."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(1, count, figsize=(4.8 * count, 4.4) if count > 1 else None, layout="constrained")[1]
