"""Errors that a user can correct. Each message says what is wrong, where, and what to do; the command line prints it
without a traceback."""


class HeadlightError(Exception):
    """An error that a user can correct. `str(error)` is one or more sentences."""


class ConfigError(HeadlightError):
    """A recipe, or a value on the command line, is invalid."""


class CorpusError(HeadlightError):
    """A text file cannot be read as parallel text."""


class CheckpointError(HeadlightError):
    """A checkpoint file is not what it claims to be, or cannot be written."""


class TranslationError(HeadlightError):
    """A sentence cannot be translated as asked."""


class TrainingError(HeadlightError):
    """Training cannot start or continue."""


class Stopped(TrainingError):
    """Training was stopped by Ctrl-C or another signal."""


class Busy(TrainingError):
    """Another process is using the folder."""
