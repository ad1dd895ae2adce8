"""The path below which the server serves the app."""

import streamlit as st


def app_path() -> str:
    """`server.baseUrlPath` with a slash before it and none at the end: "/headlight"; "" if there is no such path."""
    path = st.get_option("server.baseUrlPath").strip("/")
    return f"/{path}" if path else ""
