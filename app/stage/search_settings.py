"""How the translation is searched for: the folded settings in the menu."""

from dataclasses import replace
from typing import Any

import streamlit as st

from app.library.limits import MOST_BEAM, bounded
from app.state.choice import Between, Choice
from app.state.choices import (
    ALPHA,
    ALTERNATIVES,
    BEAM,
    DRAWS,
    METHOD,
    PENALTY,
    SEED,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    search_changed,
)
from transformer.config import DecodingConfig

METHODS = ("beam", "greedy", "sampling")
PENALTIES = ("paper", "power", "none")
MOST_SHOWN = 8  # translations


def search_settings(recipe: DecodingConfig) -> DecodingConfig:
    """Draws the settings, which open as the recipe of the checkpoint says. Returns what they are now."""
    defaults = bounded(recipe)
    chosen: dict[str, Any] = {"n_best": 1}
    with st.expander("Search settings", key="search_settings"):
        METHOD.open(defaults.method, METHODS)
        method = st.segmented_control("Method", METHODS, required=True, **_widget(METHOD))
        chosen["method"] = method
        if method == "beam":
            chosen |= _beam_settings(defaults)
        elif method == "sampling":
            chosen |= _sampling_settings()
        else:
            st.caption("Takes the most probable token at each step.")
    return replace(defaults, **chosen)


def _beam_settings(defaults: DecodingConfig) -> dict[str, Any]:
    beam = _slider("Beam size", BEAM, 1, MOST_BEAM, defaults.beam)
    most = min(beam, MOST_SHOWN)
    n_best = _slider("Translations to show", ALTERNATIVES, 1, most, min(3, most)) if most > 1 else 1
    PENALTY.open(defaults.length_penalty, PENALTIES)
    penalty = st.selectbox(
        "Length penalty",
        PENALTIES,
        help="The sum of log-probabilities is divided by it; without it, short translations would win. "
        "paper: ((5 + l) / 6)^α. power: l^α, for l tokens.",
        **_widget(PENALTY),
    )
    alpha = defaults.alpha
    if penalty != "none":
        alpha = _slider("α", ALPHA, 0.0, 2.0, min(defaults.alpha, 2.0), 0.1)
    return {"beam": beam, "n_best": n_best, "length_penalty": penalty, "alpha": alpha}


def _sampling_settings() -> dict[str, Any]:
    return {
        "temperature": _slider("Temperature", TEMPERATURE, 0.1, 3.0, 1.0, 0.1),
        "top_k": _number("Top k (0 = all tokens)", TOP_K, 1000),
        "top_p": _slider("Top p", TOP_P, 0.05, 1.0, 1.0, 0.05),
        "n_best": _slider("Translations to draw", DRAWS, 1, MOST_SHOWN, 3),
        "seed": _number("Seed", SEED, 999_999),
    }


def _slider(label: str, choice: Choice, least: float, most: float, opening: float, step: float = 1) -> Any:
    choice.open(opening, Between(least, most))
    return st.slider(label, least, most, step=step, **_widget(choice))


def _number(label: str, choice: Choice, most: int) -> int:
    choice.open(0, Between(0, most))
    return st.number_input(label, 0, most, **_widget(choice))


def _widget(choice: Choice) -> dict[str, Any]:
    return {"key": choice.key, "persist_state": "session", "on_change": search_changed}
