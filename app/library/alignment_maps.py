"""The alignment map of a checkpoint, if `python -m transformer align --store` has written one beside it."""

from pathlib import Path

import streamlit as st

from app.library.checkpoints import CheckpointFile, load
from transformer.analysis.alignment.alignment_map import AlignmentMap, map_path, read_map


def alignment_map(file: CheckpointFile) -> AlignmentMap | None:
    """The map, or None. Raises CheckpointError for one that is damaged or of other weights."""
    try:
        stored = map_path(Path(file.path)).stat()
    except OSError:
        return None
    return _read(file, stored.st_mtime_ns, stored.st_size)


@st.cache_data(max_entries=32, show_spinner=False)
def _read(file: CheckpointFile, modified: int, size: int) -> AlignmentMap | None:
    """`modified` and `size` of the map's file are in the cache key, so a map that is measured again is read again."""
    return read_map(Path(file.path), load(file).model.config)
