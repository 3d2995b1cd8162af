"""The updates of --write: the charts, the tables of docs/internals/performance.md, and the README's short one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import drawing
import highlights
import note
import safety
import table
from charts import CHARTS, Chart
from rows import Row


def publish(root: Path, rows: list[Row], tests: list[safety.Safety], seen: dict[str, Any]) -> None:
    folder = root / "docs/charts"
    folder.mkdir(exist_ok=True)
    drawn = [chart for chart in CHARTS if drawing.draw(chart, rows, folder)]
    pictures = "\n\n".join(picture(chart) for chart in drawn)
    tables = table.as_markdown([*table.sections(rows), *safety.as_lines(tests)])
    note.write(root / "docs/internals/performance.md", f"{table.in_words(seen)}\n\n{pictures}\n\n{tables}")
    short = table.as_markdown([highlights.lines(rows)])
    note.write(
        root / "README.md",
        f"`{seen['command']}`, {seen['date']}, {seen['processor']}, {seen['cores']} cores:\n\n{short}",
    )


def picture(chart: Chart) -> str:
    """The chart for the reader's background."""
    return f"""\
<picture>
  <source media="(prefers-color-scheme: dark)" srcset="charts/{chart.name}-dark.svg">
  <img src="charts/{chart.name}-light.svg" alt="{chart.title}: Kept, its rivals, lower bounds; figures in the table">
</picture>"""
