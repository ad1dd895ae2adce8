"""The residual stream in pictures: its length from layer to layer, what each sub-layer adds, and the summands
of the last vector.

The numbers are those of app/views/residual/stream.py.
"""

import numpy as np

from app.figures.axes import TokenAxis, plotly_text, ticks
from app.figures.charts import Figure, axis, chart_layout, color_bar, plain_axis
from app.figures.panels import FigurePart, frame, heat, words, wrap_title
from app.figures.tables import Table
from app.figures.tensor import label_width, row_norms
from app.figures.theme import CELL_SIZE, INK, TICK_SIZE, pair_color, role_color, text_on_weight, weight_scale
from app.languages import _
from app.languages.numbers import formatted
from app.views.residual.stream import Stream, SubLayer, cosines

HIGHEST = 900  # px for all rows of cells; the rows of a long sentence are lower
NUMBERS_UP_TO = 20  # tokens: with more, the rows are too low for numbers in the cells


def stream_chart(one: Stream, *, pre_norm: bool, title: str) -> Figure:
    """One token through all layers: the lengths of the stream before each sub-layer, of what is added, of the sum."""
    subs, all_sums = one.subs, all(are_sums(one, pre_norm=pre_norm))
    places, names = np.arange(len(subs), dtype=np.int16), np.array([sub.name for sub in subs])
    entering, adding, leaving = row_norms(one.before), row_norms(one.added), row_norms(one.after)
    bars: list[FigurePart] = [
        {
            "type": "bar",
            "x": places[chosen],
            "y": adding[chosen],
            "name": name,
            "marker": {"color": pair_color(second), "opacity": 0.85},
            "customdata": names[chosen],
            "hovertemplate": "%{customdata}<br>‖Sublayer(x)‖ %{y:.4f}<extra></extra>",
        }
        for name, second, chosen in (
            (_("added by attention"), False, np.array([sub.attends for sub in subs])),
            (_("added by feed-forward"), True, np.array([not sub.attends for sub in subs])),
        )
    ]
    line = {
        "type": "scatter",
        "x": places,
        "y": entering,
        "name": _("the stream x before"),
        "mode": "lines+markers",
        "line": {"color": INK, "width": 2},
        "marker": {"size": 7},
        "customdata": names,
        "hovertemplate": _("before %{customdata}") + "<br>‖x‖ %{y:.4f}<extra></extra>",
    }
    sums = {
        "type": "scatter",
        "x": places,
        "y": leaving,
        "name": _("x + what is added") if all_sums else _("the stream x after"),
        "mode": "markers",
        "marker": {"size": 10, "symbol": "diamond-open", "color": INK, "line": {"width": 2}},
        "customdata": [list(texts) for texts in zip(names, _after_in_symbols(one, pre_norm), strict=True)],
        "hovertemplate": _("after %{customdata}").replace("%{customdata}", "%{customdata[0]}")
        + "<br>%{customdata[1]} %{y:.4f}<extra></extra>",
    }
    layout = chart_layout(title, 400, top=72, bottom=50) | {"xaxis": _across(subs), "yaxis": axis(_("length"))}
    return Figure([*bars, line, sums], layout)


def are_sums(one: Stream, *, pre_norm: bool) -> list[bool]:
    """For each sub-layer whether `one.after` is the sum of the stream and what it adds. An edit may take the residual
    connection away, and in a pre-norm model replace the sum."""
    found = np.array(one.connected)
    return (found & ~one.replaced[1:] if pre_norm else found).tolist()


def _after_in_symbols(one: Stream, pre_norm: bool) -> list[str]:
    """For each sub-layer what `one.after` is the length of."""
    replaced = one.replaced[1:] & pre_norm
    return [
        _("of another sentence: ‖x‖") if by_edit else "‖x + Sublayer(x)‖" if connected else "‖Sublayer(x)‖"
        for by_edit, connected in zip(replaced, one.connected, strict=True)
    ]


def stream_alt(one: Stream, title: str) -> str:
    """The picture in words."""
    begin, end = row_norms(one.before)[0], row_norms(one.after)[-1]
    return _(
        "{title}. Its length is {begin:.2f} before the first sub-layer and {end:.2f} after the last one.",
        title=title,
        begin=begin,
        end=end,
    )


def stream_table(one: Stream) -> Table:
    """The same lengths as columns of a table, and the cosine between the stream and what each sub-layer adds."""
    return {
        _("sub-layer"): [sub.name for sub in one.subs],
        _("length before"): row_norms(one.before),
        _("length added"): row_norms(one.added),
        _("length after"): row_norms(one.after),
        _("cosine of x and what is added"): cosines(one.before, one.added),
    }


def added_heatmap(ratios: np.ndarray, rows: TokenAxis, subs: tuple[SubLayer, ...], *, row: int, title: str) -> Figure:
    """‖Sublayer(x)‖ / ‖x‖ for all tokens and sub-layers; `ratios` (R, U) is the result of `relative`."""
    height, width = ratios.shape
    top = max(1.0, float(ratios.max()))
    data = [
        heat(
            ratios.astype(np.float32),
            weight_scale(),
            0,
            top,
            hoverinfo="all",
            showscale=True,
            customdata=np.array([[f"{plotly_text(name)}<br>{sub.name}" for sub in subs] for name in rows.names]),
            hovertemplate="%{customdata}<br>" + _("adds %{z:.4f} of the stream's length") + "<extra></extra>",
            colorbar=color_bar(),
        )
    ]
    large = height <= NUMBERS_UP_TO
    if large:
        r, c = np.indices(ratios.shape).reshape(2, -1)
        texts = [formatted(value, ".2f").removeprefix("0") for value in ratios[r, c]]
        inks = [text_on_weight(float(value) / top) for value in ratios[r, c]]
        short = [formatted(value, ".1f").removeprefix("0") for value in ratios[r, c]]
        room = {"columns": width, "beside": label_width(rows.tokens, TICK_SIZE) + 30, "short": short}  # see chart.js
        data.append(words(c.astype(np.int32), r.astype(np.int32), texts, inks, CELL_SIZE - 1, meta=room))
    down = plain_axis(
        _("{title}, reads", title=rows.title) if rows.predicts else rows.title, [height - 0.5, -0.5],
        tickvals=list(range(height)), ticktext=ticks(rows.tokens),
        tickfont={"size": TICK_SIZE if large else 11, "color": role_color(rows.role)},
    )  # fmt: skip
    high = max(min(height * (26 if large else 14), HIGHEST), 120)
    wrap_title(down["title"], high)
    layout = chart_layout(title, 190 + high, bottom=90) | {
        "shapes": [frame(-0.5, width - 0.5, row - 0.5, row + 0.5, 3)],
        "yaxis": down,
        "xaxis": _across(subs),
    }
    return Figure(data, layout)


def added_alt(ratios: np.ndarray, title: str) -> str:
    """The picture in words."""
    return _(
        "{title}. Largest: {largest:.2f}; mean: {mean:.2f}. The table has every number.",
        title=title,
        largest=ratios.max(),
        mean=ratios.mean(),
    )


def added_table(ratios: np.ndarray, rows: TokenAxis, subs: tuple[SubLayer, ...]) -> Table:
    """The numbers of `added_heatmap` as columns of a table."""
    return {_("token"): list(rows.names), **{sub.name: ratios[:, number] for number, sub in enumerate(subs)}}


def share_chart(found: np.ndarray, start: str, subs: tuple[SubLayer, ...], *, title: str) -> Figure:
    """The shares of the last vector, `found` (1 + U,): of what the stream starts with, then of each sub-layer."""
    kinds = [
        (start, role_color(subs[0].stack), np.array([True] + [False] * len(subs))),
        (_("attention"), pair_color(False), np.array([False, *(sub.attends for sub in subs)])),
        (_("feed-forward"), pair_color(True), np.array([False, *(not sub.attends for sub in subs)])),
    ]
    places, names = np.arange(len(found), dtype=np.int16), np.array([start, *(sub.name for sub in subs)])
    bars = [
        {
            "type": "bar",
            "x": places[chosen],
            "y": found[chosen],
            "name": name,
            "marker": {"color": color, "opacity": 0.85},
            "customdata": names[chosen],
            "hovertemplate": _("%{customdata}: share %{y:.4f}") + "<extra></extra>",
        }
        for name, color, chosen in kinds
    ]
    across = _across(subs) | {
        "range": [-0.6, len(found) - 0.4],
        "tickvals": list(range(len(found))),
        "ticktext": [start, *(sub.name for sub in subs)],
    }
    layout = chart_layout(title, 360, top=72, bottom=50)
    return Figure(bars, layout | {"xaxis": across, "yaxis": axis(_("share"), tickformat=".0%", zeroline=True)})


def share_table(found: np.ndarray, start: str, subs: tuple[SubLayer, ...]) -> Table:
    """The numbers of `share_chart` as columns of a table."""
    return {_("written by"): [start, *(sub.name for sub in subs)], _("share"): found}


def _across(subs: tuple[SubLayer, ...]) -> dict[str, object]:
    return axis(
        "", [-0.6, len(subs) - 0.4], tickvals=list(range(len(subs))), ticktext=[sub.name for sub in subs],
        autotickangles=[0, -45], showgrid=False,
    )  # fmt: skip
