"""How often something may be done: counted by key (an address, a follower, a class) in windows of time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from threading import Lock

MOST_KEYS = 20_000  # that are counted at once; beyond that, a new key is refused


@dataclass(frozen=True)
class Limit:
    """At most `most` times in `seconds`."""

    name: str
    most: int
    seconds: float


class Rates:
    """Counts by limit and key. Safe for threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = Lock()
        self._counts: dict[tuple[str, str], tuple[float, int]] = {}  # (when the window ends, count)

    def count(self, limit: Limit, key: str) -> bool:
        """Adds one to the count, and returns whether it is within the limit."""
        now = self._clock()
        with self._lock:
            ends, count = self._counts.get((limit.name, key), (0.0, 0))
            if ends <= now:
                ends, count = now + limit.seconds, 0
                if len(self._counts) >= MOST_KEYS:
                    self._counts = {name: kept for name, kept in self._counts.items() if kept[0] > now}
                    if len(self._counts) >= MOST_KEYS:
                        return False
            self._counts[limit.name, key] = (ends, count + 1)
            return count < limit.most

    def is_reached(self, limit: Limit, key: str) -> bool:
        """Whether no more is allowed now; counts nothing."""
        with self._lock:
            ends, count = self._counts.get((limit.name, key), (0.0, 0))
            return ends > self._clock() and count >= limit.most


def network_of(address: str) -> str:
    """The key by which an address is counted: the address itself, or the first half of an IPv6 address, because one
    machine may use all addresses with that half."""
    try:
        found = ip_address(address)
    except ValueError:
        return "unknown"
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
