"""The classes of this server: what each sees, who follows, and what was answered. All in memory, without names.

A lecturer changes a class with its secret. A follower has a random token. With it they can read what the class sees,
set their own answer and have a sentence translated, and nothing else. An unknown class and an unknown follower raise
the same error, so a guessed token does not show whether a code exists. Only `join` shows that; it counts wrong codes.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from app.classroom.class_limits import (
    IS_HERE,
    JOINS,
    LASTS,
    MOST_CLASSES,
    MOST_FOLLOWERS,
    REQUESTS,
    SENTENCES,
    SENTENCES_OF_CLASS,
    WRONG_CODES,
    WRONG_CODES_OF_ALL,
    ClassError,
    NoClass,
    TooMany,
    WrongCode,
    codes,
)
from app.classroom.class_rates import Rates, network_of
from app.classroom.class_record import Follower, Record
from app.classroom.class_scene import ClassScene, Revealed
from app.languages import _


class Classes:
    """All classes of a server. Safe for threads: one lock, held for a few assignments."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = Lock()
        self._classes: dict[str, Record] = {}
        self.rates = Rates(clock)

    # ----- the lecturer -----

    def open(self, owner: str = "", is_open: Callable[[str], bool] = bool) -> tuple[str, str]:
        """(code, secret) of a new class. By `owner` the lecturer's browser finds the class again; with "" it cannot. If
        there is no room, classes end that nobody follows and whose tab, by `is_open`, is closed."""
        with self._lock:
            self._end_old()
            if len(self._classes) >= MOST_CLASSES:
                now = self._clock()
                self._end([code for code, one in self._classes.items() if one.is_abandoned(now, is_open)])
            if len(self._classes) >= MOST_CLASSES:
                raise TooMany(
                    _("{count} classes are open: this server allows no more at the same time.", count=MOST_CLASSES)
                )
            code = next(code for code in codes() if code not in self._classes)
            self._classes[code] = Record(secrets.token_urlsafe(32), owner, self._clock() + LASTS)
            self._classes[code].announce()
            return code, self._classes[code].secret

    def owned(self, owner: str) -> tuple[str, str] | None:
        """(code, secret) of the class that this owner has opened."""
        with self._lock:
            self._end_old()
            found = ((code, one.secret) for code, one in self._classes.items() if owner and one.owner == owner)
            return next(found, None)

    def is_open(self, code: str, secret: str) -> bool:
        """Whether this class exists and has this secret."""
        try:
            return self.followers(code, secret) >= 0
        except NoClass:
            return False

    def follows(self, code: str, secret: str, tab: str, is_open: Callable[[str], bool]) -> bool:
        """Whether the class follows this tab of the lecturer, or one that is not open any more."""
        with self._lock:
            followed = self._own(code, secret).tab
            return followed == tab or not is_open(followed)

    def follow(self, code: str, secret: str, tab: str) -> None:
        """From now on, the class follows this tab of the lecturer."""
        with self._lock:
            self._own(code, secret).tab = tab

    def publish(self, code: str, secret: str, scene: ClassScene, *, asks: bool = False) -> None:
        """Shows this to the class from now on. `asks`: its question can be answered, also if it was revealed before."""
        with self._lock:
            found = self._own(code, secret)
            is_again = asks and found.ask_again(scene)
            if is_again or scene != found.scene:
                found.show(scene)

    def reveal(self, code: str, secret: str, question: str, right: int, why: str = "") -> tuple[int, ...]:
        """Reveals to the phones the totals of a question and the right answer; they cannot answer it any more. Returns
        the totals; () for a question that was not asked."""
        with self._lock:
            found = self._own(code, secret)
            if question not in found.answers:
                return ()
            if question not in found.revealed:
                found.revealed[question] = Revealed(right, why, found.totals(question))
                found.announce()
            return found.revealed[question].totals

    def totals(self, code: str, secret: str, question: str) -> tuple[int, ...]:
        """How many followers have given each answer; () for a question that was not asked."""
        with self._lock:
            return self._own(code, secret).totals(question)

    def followers(self, code: str, secret: str) -> int:
        """How many phones follow now."""
        with self._lock:
            return self._own(code, secret).phones(self._clock())

    def close(self, code: str, secret: str) -> None:
        """Ends the class."""
        with self._lock:
            found = self._own(code, secret)
            del self._classes[code]
            found.wake()

    def close_all(self) -> None:
        """Ends all classes, before the server stops."""
        with self._lock:
            for found in self._classes.values():
                found.wake()
            self._classes.clear()

    # ----- a follower -----

    def join(self, code: str, address: str) -> str:
        """The token of a new follower."""
        network = network_of(address)
        with self._lock:
            if self.rates.is_reached(WRONG_CODES, network):
                raise TooMany(_("Too many wrong codes came from your network. Try again in ten minutes."))
            if self.rates.is_reached(WRONG_CODES_OF_ALL, ""):
                raise TooMany(_("Too many wrong codes were sent to this server. Try again in ten minutes."))
            if not self.rates.count(JOINS, network):
                raise TooMany(_("Too many phones of your network have joined. Try again in ten minutes."))
            self._end_old()
            found = self._classes.get(code)
            if found is None:
                self.rates.count(WRONG_CODES, network)
                self.rates.count(WRONG_CODES_OF_ALL, "")
                raise WrongCode
            now = self._clock()
            if len(found.followers) >= MOST_FOLLOWERS:
                gone = [token for token, one in found.followers.items() if one.seen <= now - IS_HERE]
                for token in gone:
                    del found.followers[token]
            if len(found.followers) >= MOST_FOLLOWERS:
                words = _("{count} people follow this class, and it has no more places.", count=MOST_FOLLOWERS)
                raise TooMany(words)
            token = secrets.token_urlsafe(24)
            found.followers[token] = Follower(now)
            return token

    def news(self, code: str, follower: str) -> tuple[int, bytes]:
        """(version, JSON) of what the class sees."""
        with self._lock:
            found = self._followed(code, follower)[0]
            return found.version, found.news

    def wait(self, code: str, follower: str, version: int, wake: Callable[[], None]) -> bool:
        """Calls `wake` once the class ends or sees another version than this one; False if it already sees another."""
        with self._lock:
            found = self._followed(code, follower, counts=False)[0]
            if found.version != version:
                return False
            found.waiting.add(wake)
            return True

    def wait_no_more(self, code: str, wake: Callable[[], None]) -> None:
        with self._lock:
            if code in self._classes:
                self._classes[code].waiting.discard(wake)

    def picture(self, code: str, follower: str, picture_id: str) -> bytes:
        """The message of the canvas, packed by gzip."""
        with self._lock:
            found = self._followed(code, follower)[0]
            hides = found.scene.hides(found.revealed) and picture_id == found.scene.picture_id
            if hides or picture_id not in found.pictures:
                raise ClassError(_("The class sees another picture now."))
            return found.pictures[picture_id]

    def answer(self, code: str, follower: str, question: str, answer: int) -> None:
        """Stores the one answer of a follower. They may change it until the lecturer reveals the right one."""
        with self._lock:
            found = self._followed(code, follower)[0]
            asked = found.scene.question
            if not asked or asked.id != question or question in found.revealed:
                raise ClassError(_("This question cannot be answered any more."))
            if not 0 <= answer < len(asked.answers):
                raise ClassError(_("The question has no such answer."))
            found.answers[question][follower] = answer

    @contextmanager
    def translating(self, code: str, follower: str) -> Iterator[ClassScene]:
        """The scene whose model translates a follower's sentence. Each follower may send one sentence at a time."""
        with self._lock:
            found, one = self._followed(code, follower)
            if one.translates:
                raise TooMany(_("Your sentence before this one is still being translated."))
            if not self.rates.count(SENTENCES, follower):
                raise TooMany(_("You have sent many sentences. Wait a minute."))
            if not self.rates.count(SENTENCES_OF_CLASS, code):
                raise TooMany(_("The class sends many sentences at the moment. Try again in a minute."))
            scene, one.translates = found.scene, True
        try:
            yield scene
        finally:
            one.translates = False

    # ----- inside -----

    def _own(self, code: str, secret: str) -> Record:
        self._end_old()
        found = self._classes.get(code)
        if found is None or not secrets.compare_digest(found.secret.encode(), secret.encode()):
            raise NoClass
        return found

    def _followed(self, code: str, follower: str, *, counts: bool = True) -> tuple[Record, Follower]:
        self._end_old()
        found = self._classes.get(code)
        one = found.followers.get(follower) if found else None
        if found is None or one is None:
            raise NoClass
        if counts and not self.rates.count(REQUESTS, follower):
            raise TooMany(_("This phone asks too often. Wait half a minute."))
        one.seen = self._clock()
        return found, one

    def _end_old(self) -> None:
        now = self._clock()
        self._end([code for code, one in self._classes.items() if one.ends <= now])

    def _end(self, ended: list[str]) -> None:
        for code in ended:
            self._classes.pop(code).wake()


CLASSES = Classes()  # of this server
