"""Texts that fit a terminal, and tables for notebooks."""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterable, Sequence


def width() -> int:
    """Columns of the terminal: 80 where there is none."""
    return max(shutil.get_terminal_size((80, 24)).columns, 40)


def fitted(line: str) -> str:
    """A line that fits the terminal; dots stand for what does not."""
    most = width()
    return line if len(line) <= most else line[: most - 4] + " ..."


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook, with a title above it."""

    def cells(kind: str, row: Sequence[object]) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(item))}</{kind}>" for item in row) + "</tr>"

    body = (cells("th", head) if head else "") + "".join(cells("td", row) for row in rows)
    return f"<div><b>{html.escape(title)}</b><table>{body}</table></div>"
