"""Errors that a user can correct. Each message says what is wrong, where, and what to do; the command line prints it
without a traceback."""

_OUT_OF_MEMORY = (
    "The memory of {where} is full ({reason}). To train, lower data.tokens_per_batch and raise training.accumulate by "
    "as much, for the same updates in smaller parts. A run cannot be resumed with other batches: start one in another "
    "--run-dir, with --init-from and the last.safetensors of the first to keep its weights. To translate or "
    "to score, give fewer sentences at once{instead}."
)


class HeadlightError(Exception):
    """An error that a user can correct. `str(error)` is one or more sentences."""


class ConfigError(HeadlightError):
    """A recipe, or a value on the command line, is invalid."""


class CorpusError(HeadlightError):
    """A text file cannot be read as parallel text."""


class BadLine(CorpusError):
    """One line cannot be read as a pair of sentences; the other lines of its file may be good.

    Attributes:
        found: the file, the line, and what is wrong with it.
    """

    def __init__(self, found: str, what_to_do: str):
        super().__init__(found, what_to_do)  # both are `args`, so that the error can be pickled
        self.found = found

    def __str__(self) -> str:
        return " ".join(self.args)


class CheckpointError(HeadlightError):
    """A checkpoint file is not what it claims to be, or cannot be written."""


class TranslationError(HeadlightError):
    """A sentence cannot be translated as asked."""


class TraceError(HeadlightError):
    """A file is not a stored trace, or a trace lacks what is asked for."""


class DeviceError(HeadlightError):
    """This machine does not have the device, or it cannot do what is asked."""


class TrainingError(HeadlightError):
    """Training cannot start or continue."""


class Stopped(TrainingError):
    """Training was stopped by Ctrl-C or another signal."""


class Busy(TrainingError):
    """Another process is using the folder."""


def out_of_memory(error: RuntimeError | MemoryError) -> str:
    """The message for this error; "" if it is another one. torch, which is not imported here, has an error class for
    the memory of a GPU and none for the memory of the machine."""
    _, of_the_machine, reason = str(error).rpartition("DefaultCPUAllocator: ")
    reason = reason.strip().partition(". ")[0]
    if of_the_machine or isinstance(error, MemoryError):
        return _OUT_OF_MEMORY.format(where="this machine", reason=reason or "none is left", instead="")
    if type(error).__name__ == "OutOfMemoryError" or "out of memory" in reason:
        return _OUT_OF_MEMORY.format(where="the GPU", reason=reason, instead=", or --device cpu")
    return ""
