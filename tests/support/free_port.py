"""A port of this machine that nobody uses."""

import socket


def free_port() -> int:
    """A port for a server that a test starts. Another process may take it before the server does; that is rare."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
