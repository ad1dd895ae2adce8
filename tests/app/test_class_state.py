"""The state of a class: what a follower can change, what a wrong secret can, limits, and many threads at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from app.classroom.class_limits import (
    ALPHABET,
    IS_HERE,
    LASTS,
    MOST_CLASSES,
    MOST_FOLLOWERS,
    MOST_PICTURES,
    REQUESTS,
    WRONG_CODES,
    WRONG_CODES_OF_ALL,
    ClassError,
    NoClass,
    TooMany,
    WrongCode,
)
from app.classroom.class_rates import network_of
from app.classroom.class_scene import Asked, ClassScene, ShownHead
from app.classroom.class_state import Classes

ASKED = Asked("Which word?", ("glasses", "morning", "I"))
SCENE = ClassScene("A sentence", "Two sentences.", picture=b"packed", model=("en-de", "beam 4"), question=ASKED)


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def classes(clock: Clock) -> Classes:
    return Classes(clock)


def news(classes: Classes, code: str, follower: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(classes.news(code, follower)[1])
    return found


def test_a_code_has_six_characters_of_which_none_looks_like_another(classes: Classes) -> None:
    codes = {classes.open()[0] for _ in range(MOST_CLASSES)}
    assert len(codes) == MOST_CLASSES
    assert all(len(code) == 6 and set(code) <= set(ALPHABET) for code in codes)
    assert not set("0O1ILSZUVG6B") & set(ALPHABET)
    with pytest.raises(TooMany, match="12 classes are open"):
        classes.open()


def test_a_class_that_everybody_has_left_makes_room_for_another(classes: Classes, clock: Clock) -> None:
    opened = [classes.open() for _ in range(MOST_CLASSES)]
    for number, (code, secret) in enumerate(opened):
        classes.follow(code, secret, f"tab {number}")
    follower = classes.join(opened[1][0], "10.0.0.1")
    gone = {"tab 1", "tab 2"}
    new = classes.open(is_open=lambda tab: tab not in gone)
    assert classes.is_open(*new)
    assert [classes.is_open(*one) for one in opened[:4]] == [True, True, False, True]  # a phone follows the second
    assert news(classes, opened[1][0], follower)
    with pytest.raises(TooMany):
        classes.open(is_open=lambda tab: tab not in gone)


def test_followers_see_what_the_lecturer_publishes_and_the_answer_only_once_it_is_revealed(classes: Classes) -> None:
    code, secret = classes.open()
    one, two = (classes.join(code, "10.0.0.1") for _ in range(2))
    assert news(classes, code, one)["title"] == "The class has begun"
    classes.publish(code, secret, SCENE)
    seen = news(classes, code, one)
    assert (seen["title"], seen["text"]) == ("A sentence", "Two sentences.")
    assert seen["question"] == {"id": ASKED.id, "time": 0, "prompt": "Which word?", "answers": list(ASKED.answers)}
    assert (seen["picture"], seen["revealed"]) == ("", None)  # the answer could be read from the picture
    with pytest.raises(ClassError):
        classes.picture(code, one, SCENE.picture_id)
    classes.answer(code, one, ASKED.id, 0)
    classes.answer(code, one, ASKED.id, 2)  # changed
    classes.answer(code, two, ASKED.id, 1)
    assert classes.totals(code, secret, ASKED.id) == (0, 1, 1)
    assert classes.reveal(code, secret, ASKED.id, 1, "Because.") == (0, 1, 1)
    with pytest.raises(ClassError, match="cannot be answered any more"):
        classes.answer(code, two, ASKED.id, 0)
    seen = news(classes, code, two)
    assert seen["revealed"] == {"right": 1, "why": "Because.", "totals": [0, 1, 1]}
    assert classes.picture(code, two, seen["picture"]) == b"packed"


def test_a_question_can_be_asked_again_after_it_was_revealed(classes: Classes) -> None:
    code, secret = classes.open()
    one, two = (classes.join(code, "10.0.0.1") for _ in range(2))
    classes.publish(code, secret, SCENE, asks=True)
    classes.answer(code, one, ASKED.id, 0)
    classes.publish(code, secret, SCENE, asks=True)  # in each run of the page, as long as it is not revealed
    assert classes.reveal(code, secret, ASKED.id, 1) == (1, 0, 0)
    classes.publish(code, secret, SCENE)  # the page with the answer
    assert news(classes, code, one)["revealed"]["totals"] == [1, 0, 0]
    classes.publish(code, secret, SCENE, asks=True)
    seen = news(classes, code, one)
    assert (seen["question"]["time"], seen["revealed"], seen["picture"]) == (1, None, "")
    assert classes.totals(code, secret, ASKED.id) == (0, 0, 0)
    classes.answer(code, two, ASKED.id, 1)
    assert classes.reveal(code, secret, ASKED.id, 1) == (0, 1, 0)


def test_the_pinned_words_are_sent_once_the_answer_is_revealed(classes: Classes) -> None:
    code, secret = classes.open()
    follower = classes.join(code, "10.0.0.1")
    head = ShownHead("cross", 1, 2, "arcs", pinned=(3, 5))  # may be a question's row and the token it attends to most
    classes.publish(code, secret, replace(SCENE, shown=head))
    seen = news(classes, code, follower)["shown"]
    assert seen == {"kind": "cross", "layer": 1, "head": 2, "form": "arcs", "pinned": [-1, -1]}
    classes.reveal(code, secret, ASKED.id, 1)
    assert news(classes, code, follower)["shown"]["pinned"] == [3, 5]


def test_a_wrong_secret_changes_nothing(classes: Classes) -> None:
    code, secret = classes.open()
    follower = classes.join(code, "10.0.0.1")
    classes.publish(code, secret, SCENE)
    before = classes.news(code, follower)
    for wrong in ("", "guess", follower, secret[:-1], "\u00e4"):
        for act in (
            lambda wrong=wrong: classes.publish(code, wrong, ClassScene("Another")),
            lambda wrong=wrong: classes.reveal(code, wrong, ASKED.id, 0),
            lambda wrong=wrong: classes.totals(code, wrong, ASKED.id),
            lambda wrong=wrong: classes.followers(code, wrong),
            lambda wrong=wrong: classes.close(code, wrong),
        ):
            with pytest.raises(NoClass):
                act()
    assert classes.news(code, follower) == before


def test_an_answer_that_is_not_one_of_the_question_is_refused(classes: Classes) -> None:
    code, secret = classes.open()
    follower = classes.join(code, "10.0.0.1")
    classes.publish(code, secret, SCENE)
    for question, answer in ((ASKED.id, -1), (ASKED.id, 3), ("another", 0)):
        with pytest.raises(ClassError):
            classes.answer(code, follower, question, answer)
    assert classes.totals(code, secret, ASKED.id) == (0, 0, 0)


def test_after_too_many_wrong_codes_an_address_is_refused_also_with_the_right_one(
    classes: Classes, clock: Clock
) -> None:
    code, _ = classes.open()
    follower = classes.join(code, "10.0.0.1")
    for number in range(WRONG_CODES.most):
        with pytest.raises(WrongCode):
            classes.join(f"{number:06}", "10.0.0.1")
    with pytest.raises(TooMany, match="wrong codes"):
        classes.join(code, "10.0.0.1")
    classes.news(code, follower)  # who follows already is not affected
    classes.join(code, "10.0.0.2")
    clock.now += WRONG_CODES.seconds
    classes.join(code, "10.0.0.1")


def test_if_all_networks_together_sent_too_many_no_single_one_is_blamed(classes: Classes) -> None:
    code, _ = classes.open()
    for number in range(WRONG_CODES_OF_ALL.most):
        with pytest.raises(WrongCode):
            classes.join("000000", f"10.1.{number // 25}.1")
    with pytest.raises(TooMany, match="were sent to this server"):
        classes.join(code, "10.0.0.1")


def test_a_token_tells_nothing_about_a_code(classes: Classes) -> None:
    code, _ = classes.open()
    messages = []
    for guess in (code, "000000"):
        with pytest.raises(NoClass) as error:
            classes.news(guess, "invented")
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_class_has_a_last_place_which_a_phone_that_is_gone_gives_back(classes: Classes, clock: Clock) -> None:
    code, secret = classes.open()
    tokens = [classes.join(code, "10.0.0.1") for _ in range(MOST_FOLLOWERS)]
    with pytest.raises(TooMany, match="no more places"):
        classes.join(code, "10.0.0.1")
    clock.now += IS_HERE
    classes.news(code, tokens[0])
    classes.join(code, "10.0.0.1")
    assert classes.followers(code, secret) == 2
    with pytest.raises(NoClass):
        classes.news(code, tokens[1])


def test_a_class_ends_after_three_hours_or_when_it_is_closed(classes: Classes, clock: Clock) -> None:
    code, secret = classes.open("lecturer")
    assert classes.owned("lecturer") == (code, secret)
    assert classes.owned("") is None
    follower = classes.join(code, "10.0.0.1")
    woken: list[bool] = []
    assert classes.wait(code, follower, classes.news(code, follower)[0], lambda: woken.append(True))
    clock.now += LASTS
    with pytest.raises(NoClass):
        classes.news(code, follower)
    assert woken == [True]
    other, its = classes.open("lecturer")
    classes.close(other, its)
    assert classes.owned("lecturer") is None


def test_a_phone_that_asks_too_often_is_refused(classes: Classes, clock: Clock) -> None:
    code, _ = classes.open()
    follower = classes.join(code, "10.0.0.1")
    for _ in range(REQUESTS.most):
        classes.news(code, follower)
    with pytest.raises(TooMany, match="too often"):
        classes.news(code, follower)
    clock.now += REQUESTS.seconds
    classes.news(code, follower)


def test_a_follower_translates_one_sentence_at_a_time(classes: Classes) -> None:
    code, secret = classes.open()
    classes.publish(code, secret, SCENE)
    one, two = (classes.join(code, "10.0.0.1") for _ in range(2))
    with classes.translating(code, one) as scene:
        assert scene == SCENE
        with pytest.raises(TooMany, match="before this one"), classes.translating(code, one):
            pass
        with classes.translating(code, two):
            pass
    with classes.translating(code, one):
        pass


def test_only_the_newest_pictures_are_kept(classes: Classes) -> None:
    code, secret = classes.open()
    follower = classes.join(code, "10.0.0.1")
    scenes = [ClassScene(f"{number}", picture=bytes([number])) for number in range(MOST_PICTURES + 1)]
    for scene in scenes:
        classes.publish(code, secret, scene)
    with pytest.raises(ClassError, match="another picture"):
        classes.picture(code, follower, scenes[0].picture_id)
    assert classes.picture(code, follower, scenes[1].picture_id) == b"\x01"


def test_many_threads_at_once_lose_no_answer(classes: Classes) -> None:
    code, secret = classes.open()
    classes.publish(code, secret, SCENE)

    def follow(number: int) -> int:
        token = classes.join(code, f"10.0.0.{number}")
        for answer in (0, 1, number % 3):
            classes.answer(code, token, ASKED.id, answer)
            classes.news(code, token)
        return number % 3

    def lecture(number: int) -> int:
        classes.publish(code, secret, SCENE if number % 2 else ClassScene("Between", question=ASKED))
        return -1

    with ThreadPoolExecutor(32) as pool:
        jobs = [pool.submit(lecture if number % 5 == 4 else follow, number) for number in range(150)]
        given = [job.result() for job in jobs]
    assert classes.totals(code, secret, ASKED.id) == tuple(given.count(answer) for answer in range(3))
    assert classes.followers(code, secret) == 120


def test_addresses_of_one_ipv6_network_are_counted_together() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") != network_of("2001:db8:0:1::1")
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1") == "10.0.0.1"
    assert network_of("testclient") == "unknown"
