"""Pure functions: arrays in; a Plotly figure, a table, or the data of a browser component out.

No Streamlit and no torch here, so that every page, a notebook and a test call the same code. Layers and heads count
from 0 in arguments and from 1 in whatever a reader sees.
"""
