"""The language of the interface, which is in the address: `?lang=de`."""

from app.languages import LANGUAGES, Language
from app.languages.spoken import KEY
from app.state.address_texts import one_of
from app.state.choice import Choice

LANGUAGE = Choice[Language](KEY, "en", one_of(LANGUAGES))
