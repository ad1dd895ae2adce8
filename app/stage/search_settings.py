"""The search settings in the menu."""

from dataclasses import replace
from typing import Any

import streamlit as st

from app.languages import _, pgettext
from app.languages.numbers import widget_format
from app.library.limits import MOST_BEAM, bounded
from app.state.choice import Between, Choice
from app.state.choices import ALPHA, ALTERNATIVES, BEAM, DRAWS, METHOD, PENALTY, SEED, TEMPERATURE, TOP_K, TOP_P
from app.state.events import search_changed
from transformer.config import DecodingConfig

METHODS = ("beam", "greedy", "sampling")
PENALTIES = ("paper", "power", "none")
SHOWN, MOST_SHOWN = 3, 8  # translations
ALPHAS, TEMPERATURES, TOP_PS = (0.0, 2.0), (0.1, 3.0), (0.05, 1.0)
MOST_TOP_K, MOST_SEED = 1000, 999_999


def search_settings(recipe: DecodingConfig) -> DecodingConfig:
    """Draws the settings, which open with the values of the checkpoint's recipe. Returns the chosen ones."""
    defaults = bounded(recipe)
    chosen: dict[str, Any] = {"n_best": 1}
    with st.expander(_("Search settings"), key="search_settings"):
        METHOD.open(defaults.method, METHODS)
        method = st.segmented_control(_("Method"), METHODS, format_func=_method_name, required=True, **_widget(METHOD))
        chosen["method"] = method
        if method == "beam":
            chosen |= _beam_settings(defaults)
        elif method == "sampling":
            chosen |= _sampling_settings(defaults)
        else:
            st.caption(_("Takes the most probable token at each step."))
    return replace(defaults, **chosen)


def usual_settings(recipe: DecodingConfig) -> DecodingConfig:
    """What `search_settings` returns while nothing is chosen in it."""
    usual = bounded(recipe)
    match usual.method:
        case "beam":
            alpha = usual.alpha if usual.length_penalty == "none" else _within(usual.alpha, ALPHAS)
            return replace(usual, n_best=min(SHOWN, usual.beam), alpha=alpha)
        case "sampling":
            return replace(
                usual,
                temperature=_within(usual.temperature, TEMPERATURES),
                top_k=_within(usual.top_k, (0, MOST_TOP_K)),
                top_p=_within(usual.top_p, TOP_PS),
                n_best=SHOWN,
                seed=_within(usual.seed, (0, MOST_SEED)),
            )
        case "greedy":
            return replace(usual, n_best=1)


def _within(value: Any, bounds: tuple[Any, Any]) -> Any:
    return min(max(value, bounds[0]), bounds[1])


def _beam_settings(defaults: DecodingConfig) -> dict[str, Any]:
    beam = _slider(_("Beam size"), BEAM, 1, MOST_BEAM, defaults.beam)
    most = min(beam, MOST_SHOWN)
    n_best = _slider(_("Translations to show"), ALTERNATIVES, 1, most, min(SHOWN, most)) if most > 1 else 1
    PENALTY.open(defaults.length_penalty, PENALTIES)
    penalty = st.selectbox(
        _("Length penalty"),
        PENALTIES,
        format_func=_penalty_name,
        help=_(
            "The sum of log-probabilities is divided by it; without it, short translations would win. "
            "paper: ((5 + l) / 6)^α. power: l^α, for l tokens."
        ),
        **_widget(PENALTY),
    )
    alpha = defaults.alpha
    if penalty != "none":
        alpha = _slider("α", ALPHA, *ALPHAS, _within(defaults.alpha, ALPHAS), 0.1)
    return {"beam": beam, "n_best": n_best, "length_penalty": penalty, "alpha": alpha}


def _sampling_settings(defaults: DecodingConfig) -> dict[str, Any]:
    usual = usual_settings(replace(defaults, method="sampling"))
    return {
        "temperature": _slider(_("Temperature"), TEMPERATURE, *TEMPERATURES, usual.temperature, 0.1),
        "top_k": _number(_("Top k (0 = all tokens)"), TOP_K, MOST_TOP_K, usual.top_k),
        "top_p": _slider(_("Top p"), TOP_P, *TOP_PS, usual.top_p, 0.05),
        "n_best": _slider(_("Translations to draw"), DRAWS, 1, MOST_SHOWN, SHOWN),
        "seed": _number(_("Seed"), SEED, MOST_SEED, usual.seed),
    }


def _method_name(method: str) -> str:
    return {
        "beam": pgettext("a search", "beam"),
        "greedy": pgettext("a search", "greedy"),
        "sampling": pgettext("a search", "sampling"),
    }[method]


def _penalty_name(penalty: str) -> str:
    return {
        "paper": pgettext("a length penalty", "paper"),
        "power": pgettext("a length penalty", "power"),
        "none": pgettext("a length penalty", "none"),
    }[penalty]


def _slider(label: str, choice: Choice, least: float, most: float, opening: float, step: float = 1) -> Any:
    choice.open(opening, Between(least, most))
    form = widget_format() if isinstance(step, float) else None
    return st.slider(label, least, most, step=step, format=form, **_widget(choice))


def _number(label: str, choice: Choice, most: int, opening: int) -> int:
    choice.open(opening, Between(0, most))
    return st.number_input(label, 0, most, **_widget(choice))


def _widget(choice: Choice) -> dict[str, Any]:
    return {"key": choice.key, "persist_state": "session", "on_change": search_changed}
