"""What the server knows of one class."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from app.classroom.class_limits import IS_HERE, MOST_PICTURES, MOST_QUESTIONS
from app.classroom.class_scene import ClassScene, Revealed, first_scene, news_of


@dataclass
class Follower:
    """The time of a phone's last request, and whether a sentence from it is being translated."""

    seen: float
    translates: bool = False


@dataclass
class Record:
    """One class. It is changed under the lock of `Classes` only.

    Attributes:
        tab: the lecturer's tab that the class follows.
        answers: for each question, the answer of each follower.
        answer_counts: for each question, how many answers it offers.
        asked_again: for each question that was asked again after it was revealed, how often.
        pictures: the newest pictures, by id.
        waiting: callbacks for the next change of what the class sees.
    """

    secret: str
    owner: str
    ends: float
    tab: str = ""
    version: int = 0
    scene: ClassScene = field(default_factory=first_scene)
    news: bytes = b""
    followers: dict[str, Follower] = field(default_factory=dict)
    answers: OrderedDict[str, dict[str, int]] = field(default_factory=OrderedDict)
    answer_counts: dict[str, int] = field(default_factory=dict)
    asked_again: dict[str, int] = field(default_factory=dict)
    revealed: dict[str, Revealed] = field(default_factory=dict)
    pictures: OrderedDict[str, bytes] = field(default_factory=OrderedDict)
    waiting: set[Callable[[], None]] = field(default_factory=set)

    def show(self, scene: ClassScene) -> None:
        """Shows this scene to the class."""
        self.scene = scene
        if scene.picture:
            self.pictures[scene.picture_id] = scene.picture
            self.pictures.move_to_end(scene.picture_id)
            if len(self.pictures) > MOST_PICTURES:
                self.pictures.popitem(last=False)
        if scene.question:
            self.answers.setdefault(scene.question.id, {})
            self.answers.move_to_end(scene.question.id)
            self.answer_counts[scene.question.id] = len(scene.question.answers)
            if len(self.answers) > MOST_QUESTIONS:
                old = self.answers.popitem(last=False)[0]
                self.answer_counts.pop(old)
                self.revealed.pop(old, None)
                self.asked_again.pop(old, None)
        self.announce()

    def ask_again(self, scene: ClassScene) -> bool:
        """If the question of this scene has been revealed, its answers are forgotten. Returns whether they were."""
        if scene.question is None or self.revealed.pop(scene.question.id, None) is None:
            return False
        self.answers[scene.question.id].clear()
        self.asked_again[scene.question.id] = self.asked_again.get(scene.question.id, 0) + 1
        return True

    def announce(self) -> None:
        """Call it when something has changed: the phones get the new version."""
        self.version += 1
        self.news = news_of(self.version, self.scene, self.revealed, self.asked_again)
        self.wake()

    def wake(self) -> None:
        """Wakes all phones that wait; they ask again."""
        for callback in self.waiting:
            callback()
        self.waiting.clear()

    def phones(self, now: float) -> int:
        """How many phones follow."""
        return sum(one.seen > now - IS_HERE for one in self.followers.values())

    def is_abandoned(self, now: float, is_open: Callable[[str], bool]) -> bool:
        """Whether the lecturer's tab is closed and no phone follows."""
        return bool(self.tab) and not is_open(self.tab) and not self.phones(now)

    def totals(self, question: str) -> tuple[int, ...]:
        """How many followers have given each answer."""
        given = list(self.answers.get(question, {}).values())
        return tuple(given.count(answer) for answer in range(self.answer_counts.get(question, 0)))
