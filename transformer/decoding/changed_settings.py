"""Settings of the search with a few changes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from transformer.config import DecodingConfig
from transformer.errors import ConfigError
from transformer.files.untrusted_values import validate


def changed_settings(settings: DecodingConfig, changes: Mapping[str, Any]) -> DecodingConfig:
    """The settings with these changes. Raises ConfigError, which lists all invalid values."""
    found, problems = validate(DecodingConfig, {**asdict(settings), **changes})
    if found is None:
        raise ConfigError(" ".join(problems))
    return found
