"""Who visits: the person at this machine, or one of several visitors of a shared server.

Streamlit knows no accounts. `app/server/request_guard.py` gives each browser a random token in a cookie that scripts
cannot read and that survives a reload and a restart of the app. The server stores only the hash of a token, with each
thing that belongs to the visitor.

If the app serves only this machine, its visitor is the person at the machine: everything there is theirs, also after
they have cleared their cookies. A request with another host name, or one that a proxy passed on, comes from elsewhere.
"""

import hashlib
import re
import socket
from urllib.parse import urlsplit

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

COOKIE = "headlight_visitor"
TOKEN = re.compile(r"[\w-]{43}", re.ASCII)  # 32 random bytes in base64
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PROXY_HEADERS = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")


def serves_others() -> bool:
    """Whether other machines can reach the app."""
    return st.get_option("server.address") not in LOOPBACK


def address_for_others() -> str:
    """The IP address of this machine, for visitors of other machines; "" if they cannot reach the app.

    It is the address from which a packet to other networks would be sent. No packet is sent: a UDP socket that is only
    connected sends nothing (test_the_server_asks_nothing_of_the_network_however_it_is_started).
    """
    if not serves_others():
        return ""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that no machine has (RFC 5737)
        except OSError:  # no network
            return ""
        return str(probe.getsockname()[0])


def is_at_this_machine() -> bool:
    """Whether the visitor of this script run sits at the machine that runs the app."""
    if serves_others():
        return False
    context = get_script_run_ctx()
    if context is None or not runtime.exists():  # called by our own code, without a visitor
        return True
    if runtime.get_instance().get_client(context.session_id) is None:  # disconnected: nothing is known of the request
        return False
    headers = st.context.headers
    host = headers.get("Host")
    if any(name in headers for name in PROXY_HEADERS):
        return False
    return host is None or host_name(host) in LOOPBACK  # only AppTest has no host: a server refuses such requests


def identity() -> str:
    """What identifies the visitor of this script run in stored files: the hash of the token; "" without a cookie."""
    token = str(st.context.cookies.get(COOKIE, ""))
    return hashlib.sha256(token.encode()).hexdigest() if TOKEN.fullmatch(token) else ""


def tab() -> str:
    """What identifies the tab of this script run; a reload makes it another one."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


def is_open_tab(other: str) -> bool:
    """Whether a tab that `tab` has identified is connected."""
    return runtime.exists() and runtime.get_instance().get_client(other) is not None


def host_name(host: str) -> str:
    """The name or address in a Host header, without its port, in lower case; "" if it is malformed."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""
