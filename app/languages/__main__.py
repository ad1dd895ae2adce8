"""Brings the catalogues up to date with the code, or checks them.

python -m app.languages update [LANGUAGE]    writes new texts into the .po files, takes out those that are gone
python -m app.languages check [LANGUAGE]     lists what is missing or wrong; exit status 1 if anything is
"""

import sys

from app.languages.catalogue_check import problems
from app.languages.catalogues import ENGLISH, LANGUAGES
from app.languages.extraction import update


def main(arguments: list[str]) -> int:
    others = [language for language in LANGUAGES if language != ENGLISH]
    match arguments:
        case [("update" | "check") as command]:
            chosen = others
        case [("update" | "check") as command, language] if language in others:
            chosen = [each for each in others if each == language]
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    found = []
    for language in chosen:
        if command == "update":
            update(language)
        found += [f"{language}/{problem}" for problem in problems(language)]
    print("\n".join(found) if found else "All texts are translated.")
    return 1 if found and command == "check" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
