"""The languages of the interface: texts are written in English in the code, and translated where they are drawn.

A text is marked by one of these four functions, under the names that gettext has for them. Its values are given by name
and are put in after the translation:

    _("Layer {layer}, head {head}", layer=2, head=6)
    ngettext("{count} token", "{count} tokens", 3)
    pgettext("of a mask", "Row")                     where one English word needs several translations
    gettext_noop("Layer")                            a constant of a module; _() translates it when it is drawn

Numbers among the values are written as the language writes them; app/languages/numbers.py does so for a number that is
not in a text.

app/languages/README.md says how a catalogue is made, and which German term stands for which English one.
"""

from app.languages.catalogues import LANGUAGES, Language
from app.languages.messages import _, gettext_noop, ngettext, pgettext, with_label
from app.languages.spoken import language, speaking

__all__ = ["LANGUAGES", "Language", "_", "gettext_noop", "language", "ngettext", "pgettext", "speaking", "with_label"]
