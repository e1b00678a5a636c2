"""Tables for the terminal and the docs: plain text in columns."""


def table(headers, rows):
    """Columns as wide as their widest entry; the first to the left, the others to the right."""
    cells = [[str(c) for c in headers], *[[str(c) for c in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]

    def line(row):
        rest = [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        return "  ".join([row[0].ljust(widths[0]), *rest]).rstrip()

    return "\n".join([line(cells[0]), "-" * len(line(cells[0])), *[line(row) for row in cells[1:]]])


def seconds(value):
    """A time as text, in s, ms or us."""
    if value is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1.0 or unit == "us":
            return f"{value * factor:.3g} {unit}"
    return ""


def number(value, form="{:.1e}"):
    return "-" if value is None else form.format(value)


def ratio(value):
    """A ratio as text: two digits, without an exponent."""
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"
