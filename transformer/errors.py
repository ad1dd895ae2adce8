"""What can go wrong in a user's hands. Each message says what is wrong, where, and what to do; the command line
prints it as it is, without a traceback."""


class HeadlightError(Exception):
    """Anything a user can mend. `str(error)` is one or more whole sentences."""


class ConfigError(HeadlightError):
    """A recipe, or a value given on the command line, cannot be what it says."""


class CorpusError(HeadlightError):
    """A text file cannot be read as parallel text."""


class CheckpointError(HeadlightError):
    """A checkpoint file is not what it claims to be, or cannot be written."""


class TranslationError(HeadlightError):
    """A sentence cannot be translated as asked."""


class TrainingError(HeadlightError):
    """Training cannot start or cannot go on."""


class Stopped(TrainingError):
    """Training was told to stop, by Ctrl-C or another signal."""


class Busy(TrainingError):
    """Another process is at it."""
