"""What the options of a recipe that a family varies are called on the screen; "" is a family of several options."""

from app.languages import gettext_noop

OPTION_NAMES = {
    "": gettext_noop("changed part"),
    "model.heads": gettext_noop("heads h"),
    "model.positions": gettext_noop("positions"),
    "model.encoder_layers": gettext_noop("layers N"),
    "model.dropout": gettext_noop("dropout P_drop"),
    "training.label_smoothing": gettext_noop("label smoothing ε"),
    "model.norm": gettext_noop("LayerNorm"),
    "model.attention_window": gettext_noop("attention window r"),
    "model.causal_training": gettext_noop("causal mask in training"),
}
