"""Draws a chart: bars on a logarithmic axis, each with its figure, on a light and a dark background, as SVG and PNG.

The same figures give the same bytes: no dates, no random names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from charts import Bar, Chart, Group
from rows import Row
from table import figure

matplotlib.use("Agg")
matplotlib.rcParams.update(
    {
        "font.family": "DejaVu Sans",  # part of matplotlib; the SVG contains outlines of letters
        "svg.fonttype": "path",
        "svg.hashsalt": "kept",
        "hatch.linewidth": 0.8,
    }
)


@dataclass(frozen=True)
class Palette:
    ground: str
    text: str
    muted: str
    grid: str
    kept: str
    rival: str


PALETTES = {
    "light": Palette("#ffffff", "#1f2328", "#59636e", "#e4e8ec", "#0a63c9", "#b3bcc6"),
    "dark": Palette("#0d1117", "#f0f6fc", "#9aa4af", "#262c34", "#58a6ff", "#59636f"),
}
NOTE = "logarithmic axis · shorter is quicker · ×: how many times as long as Kept · hatched: a floor, no store"
WIDTH = 8.4
LINE = 0.27
"""The height of a bar with its space, in inches."""
HEADING, ABOVE, BELOW = 1.25, 0.72, 0.38
"""Of a group, in lines; of the chart, in inches."""
NAMES, FIGURES = 2.35, 1.45
"""The space left and right of the bars, in inches."""


def draw(chart: Chart, rows: list[Row], folder: Path) -> list[Path]:
    """The files that it has written; none if no row of the chart was measured."""
    if not (groups := chart.groups(rows)):
        return []
    files = []
    for ground, palette in PALETTES.items():
        drawn = _figure(chart, groups, palette)
        for form, metadata in {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}.items():
            file = folder / f"{chart.name}-{ground}.{form}"
            drawn.savefig(file, metadata=metadata, dpi=110)
            files.append(file)
    return files


def _figure(chart: Chart, groups: list[Group], palette: Palette) -> Figure:
    lines = sum(HEADING + len(group.bars) for group in groups)
    height = ABOVE + lines * LINE + BELOW
    drawn = Figure(figsize=(WIDTH, height), facecolor=palette.ground)
    drawn.text(0.16 / WIDTH, 1 - 0.3 / height, chart.title, size=13, weight="bold", color=palette.text, va="center")
    drawn.text(0.16 / WIDTH, 1 - 0.55 / height, NOTE, size=8.5, color=palette.muted, va="center")
    axes = drawn.add_axes((NAMES / WIDTH, BELOW / height, (WIDTH - NAMES - FIGURES) / WIDTH, lines * LINE / height))
    _prepare(axes, groups, lines, palette)
    at = 0.0
    for group in groups:
        _heading(axes, at + HEADING - 0.35, group, palette)
        at += HEADING
        kept = next(bar.value for bar in group.bars if bar.role == "Kept")
        for bar in group.bars:
            _bar(axes, at + 0.5, bar, kept, palette)
            at += 1
    return drawn


def _prepare(axes: Axes, groups: list[Group], lines: float, palette: Palette) -> None:
    values = [bar.value for group in groups for bar in group.bars]
    least = 10 ** math.floor(math.log10(min(values) / 1.5))
    axes.set_xscale("log")
    axes.set_xlim(least, max(values))
    axes.set_ylim(lines, 0)
    axes.patch.set_visible(False)
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    decades = [10**power for power in range(round(math.log10(least)), math.floor(math.log10(max(values))) + 1)]
    axes.set_xticks(decades, [_round(decade) for decade in decades], size=8, color=palette.muted)
    axes.tick_params(length=0, which="both", pad=3)
    axes.grid(axis="x", which="major", color=palette.grid, linewidth=0.8)
    axes.set_axisbelow(True)


def _round(decade: float) -> str:
    return next(
        f"{decade / scale:g} {unit}"
        for scale, unit in [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")]
        if decade >= scale
    )


def _heading(axes: Axes, at: float, group: Group, palette: Palette) -> None:
    axes.annotate(
        group.heading,
        (0, at),
        xycoords=("axes fraction", "data"),
        xytext=(-(NAMES - 0.16) * 72, 0),
        textcoords="offset points",
        size=9.5,
        weight="bold",
        color=palette.text,
        va="center",
        bbox=_clearing(palette),
    )


def _clearing(palette: Palette) -> dict[str, str | float]:
    """Prevents grid lines from crossing words."""
    return {"facecolor": palette.ground, "edgecolor": "none", "pad": 1.5}


def _bar(axes: Axes, at: float, bar: Bar, kept: float, palette: Palette) -> None:
    is_kept, is_floor = bar.role == "Kept", bar.role == "floor"
    color = palette.kept if is_kept else palette.rival
    axes.barh(
        at,
        bar.value,
        height=0.7,
        facecolor="none" if is_floor else color,
        edgecolor=color,
        linewidth=0.8 if is_floor else 0,
        hatch="//////" if is_floor else None,
    )
    ink = palette.kept if is_kept else palette.muted if is_floor else palette.text
    weight = "bold" if is_kept else "normal"
    axes.annotate(
        bar.name,
        (0, at),
        xycoords=("axes fraction", "data"),
        xytext=(-7, 0),
        textcoords="offset points",
        size=9,
        weight=weight,
        color=ink,
        ha="right",
        va="center",
    )
    label = axes.annotate(
        figure(bar.value, "ns"),
        (bar.value, at),
        xytext=(6, 0),
        textcoords="offset points",
        size=9,
        weight=weight,
        color=ink,
        va="center",
        bbox=_clearing(palette),
    )
    if not is_kept:
        axes.annotate(
            f"×{_times(bar.value / kept)}",
            (1, 0),
            xycoords=label,
            xytext=(7, 0),
            textcoords="offset points",
            size=8,
            color=palette.muted,
            va="bottom",
            bbox=_clearing(palette),
        )


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 9.5 else f"{ratio:.2g}"
