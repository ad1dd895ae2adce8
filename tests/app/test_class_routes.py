"""Phones over HTTP: forty follow at once, own sentences stay apart, and what is refused."""

import asyncio
import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.classroom import own_sentence
from app.classroom.class_limits import LONGEST_SENTENCE, MOST_BYTES, WRONG_CODES
from app.classroom.class_routes import end_with_the_server
from app.classroom.class_scene import Asked, ClassScene, ShownHead
from app.classroom.class_state import Classes
from app.components.bundles import bundle
from app.figures.canvas_message import header_of
from app.languages import LANGUAGES, Language, speaking
from app.stage.canvas_of_scene import message_of
from app.stage.scene import Scene
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import scene_with
from tests.support.class_phones import Phone, served

PHONES = 40
ASKED = Asked("Which word?", ("cat", "mat"))
HEAD = ShownHead("cross", 0, 0, "arcs")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return scene_with(write_checkpoint(tmp_path_factory.mktemp("class") / "one.safetensors"))


@pytest.fixture
def classes() -> Classes:
    return Classes()


@pytest.fixture
def address(classes: Classes) -> Iterator[str]:
    with served(classes) as found:
        yield found


def class_scene(scene: Scene, title: str = "One", question: Asked | None = None) -> ClassScene:
    packed = own_sentence.packed(message_of(scene))
    model = (scene.subject, scene.translation.settings)
    return ClassScene(title, "Two sentences.", picture=packed, shown=HEAD, question=question, model=model)


def test_forty_phones_follow_and_their_own_sentences_do_not_mix(classes: Classes, address: str, scene: Scene) -> None:
    code, secret = classes.open()
    own = {number: f"the cat number {number} sat" for number in range(0, PHONES, 4)}
    wanted = {
        number: header_of(message_of(scene_with(Path(scene.subject.file.path), text))) for number, text in own.items()
    }
    with ExitStack() as stack, ThreadPoolExecutor(PHONES) as pool:
        phones = [Phone(address, code) for _ in range(PHONES)]
        for phone in phones:
            stack.callback(phone.close)
        assert list(pool.map(Phone.join, phones)) == [200] * PHONES
        assert {told["title"] for told in pool.map(Phone.news, phones)} == {"The class has begun"}
        waiting = [pool.submit(phone.news) for phone in phones]
        classes.publish(code, secret, class_scene(scene))
        assert {json.dumps(each.result()) for each in waiting} == {json.dumps(phones[0].told)}
        pictures = set(pool.map(Phone.picture, phones))
        assert pictures == {message_of(scene)}

        def act(number: int) -> tuple[int, bytes]:
            return phones[number].post("sentence", text=own[number]) if number in own else (0, phones[number].picture())

        for number, (status, content) in enumerate(pool.map(act, range(PHONES))):
            if number in own:
                assert status == 200, content
                assert header_of(content) == wanted[number]
            else:
                assert {content} == pictures
        assert classes.followers(code, secret) == PHONES


def test_the_class_goes_on_and_ends_for_all_phones(classes: Classes, address: str, scene: Scene) -> None:
    code, secret = classes.open()
    phone = Phone(address, code)
    assert phone.join() == 200
    classes.publish(code, secret, class_scene(scene, question=ASKED))
    assert phone.news()["picture"] == ""
    assert phone.post("answer", question=ASKED.id, answer=1)[0] == 204
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(phone.news)
        assert classes.reveal(code, secret, ASKED.id, 1, "Because.") == (0, 1)
        assert waiting.result()["revealed"] == {"right": 1, "why": "Because.", "totals": [0, 1]}
        assert phone.post("answer", question=ASKED.id, answer=0)[0] == 409
        assert phone.picture() == message_of(scene)
        last = pool.submit(phone.ask, "GET", f"news?after={phone.told['version']}")
        classes.close(code, secret)
        status, content, _ = last.result()
    assert status == 404
    assert "has ended" in json.loads(content)["message"]
    phone.close()


def test_phones_that_wait_hear_it_when_the_server_is_told_to_stop(
    classes: Classes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server waits for them before it stops."""
    code, secret = classes.open()
    follower = classes.join(code, "10.0.0.1")
    received: list[str] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, lambda *_: received.append("stop"))
    loop = asyncio.new_event_loop()
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda act: act())
    try:
        end_with_the_server(loop, classes)
        assert classes.wait(code, follower, classes.news(code, follower)[0], lambda: received.append("news"))
        signal.raise_signal(signal.SIGTERM)
    finally:
        loop.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert received == ["news", "stop"]
    assert not classes.is_open(code, secret)


def test_a_phone_without_a_place_in_the_class_gets_nothing(classes: Classes, address: str, scene: Scene) -> None:
    code, secret = classes.open()
    classes.publish(code, secret, class_scene(scene, question=ASKED))
    for token in ("", "invented", secret):  # the secret is no token of a follower
        phone = Phone(address, code)
        phone.token = token
        asked = [phone.ask("GET", "news")[0], phone.ask("GET", "picture/1")[0]]
        asked += [phone.post("answer", question=ASKED.id, answer=1)[0], phone.post("sentence", text="a cat")[0]]
        assert asked == [404] * 4
        phone.close()
    assert classes.totals(code, secret, ASKED.id) == (0, 0)


def test_codes_cannot_be_tried_out(classes: Classes, address: str) -> None:
    code, _ = classes.open()
    guesses = [Phone(address, f"WRONG{number}") for number in range(WRONG_CODES.most + 1)]
    statuses = [phone.join() for phone in guesses]
    assert statuses == [404] * WRONG_CODES.most + [429]
    right = Phone(address, code)
    assert right.join() == 429
    for phone in (*guesses, right):
        phone.close()


def test_what_a_stranger_sends_is_checked(
    classes: Classes, address: str, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, secret = classes.open()
    classes.publish(code, secret, class_scene(scene, question=ASKED))
    phone = Phone(address, code)
    phone.join()
    bodies = [b"", b"[]", b"{", b"\xff", b"[" * 4000, b'{"text": 5}', b'{"question": "x", "answer": true}']
    for body in (*bodies, b'{"text": "' + b"a" * MOST_BYTES + b'"}'):
        for path in ("answer", "sentence"):
            assert phone.ask("POST", path, body)[0] == 422, body[:20]
    assert phone.ask("POST", "sentence", b'{"text": "a cat"}', {"Content-Type": "text/plain"})[0] == 422
    status, content = phone.post("sentence", text="a " * LONGEST_SENTENCE)
    assert (status, "characters, please" in content.decode()) == (422, True)
    assert phone.post("sentence", text=" \n")[0] == 422
    status, content = phone.post("sentence", text="A cat. The dog.")
    assert (status, "These are 2 sentences." in content.decode()) == (422, True)
    monkeypatch.setattr(own_sentence, "MOST_QUEUED", 0)
    status, content = phone.post("sentence", text="a cat")
    assert (status, "busy" in content.decode()) == (503, True)
    phone.close()


def test_a_picture_and_the_scripts_are_sent_packed_and_once(classes: Classes, address: str, scene: Scene) -> None:
    code, secret = classes.open()
    classes.publish(code, secret, class_scene(scene))
    phone = Phone(address, code)
    phone.join()
    path = f"picture/{phone.news()['picture']}"
    _, content, headers = phone.ask("GET", path)
    assert headers["Content-Encoding"] == "gzip"
    assert phone.ask("GET", path, headers={"Accept-Encoding": "identity"})[1] == content
    assert phone.ask("GET", path, headers={"If-None-Match": headers["ETag"]})[0] == 304
    phone.code = "files/en"
    for name in ("class_page.js", "class_page.css", "canvas.js", "canvas.css"):
        assert phone.ask("GET", name)[0] == 200
    assert phone.ask("GET", "page")[0] == 404
    assert b"export default function" in phone.ask("GET", "canvas.js")[1]
    phone.close()


def test_a_phone_has_the_language_of_the_class_and_two_classes_do_not_mix(
    classes: Classes, address: str, scene: Scene
) -> None:
    phones: dict[Language, Phone] = {}
    for spoken in LANGUAGES:
        with speaking(spoken):
            code, secret = classes.open()
            phones[spoken] = Phone(address, code)
            assert phones[spoken].join() == 200
            assert phones[spoken].news()["language"] == spoken
            classes.publish(code, secret, class_scene(scene))
    assert phones["en"].told["title"] == "The class has begun"
    assert phones["de"].told["title"] == "Der Kurs hat begonnen"
    refusals = {
        spoken: json.loads(phone.ask("POST", "sentence", b'{"text": " "}', {"Accept-Language": spoken})[1])["message"]
        for spoken, phone in phones.items()
    }
    refused = {"en": "Type a sentence first.", "de": "Zuerst einen Satz eingeben.", "fr": "Saisir d’abord une phrase."}
    assert refusals == refused
    for spoken, phone in phones.items():
        assert phone.news()["language"] == spoken
        own = phone.ask("POST", "sentence", b'{"text": "a cat"}', {"Accept-Language": spoken})[1]
        with speaking(spoken):
            assert header_of(own) == header_of(message_of(scene_with(Path(scene.subject.file.path), "a cat")))
        phone.close()


@pytest.mark.parametrize(
    ("query", "browser", "spoken"),
    [
        ("", "", "en"),
        ("", "it,de-AT;q=0.9,en;q=0.8", "de"),
        ("", "fr-CA,en;q=0.8", "fr"),
        ("?lang=en", "de", "en"),
        ("?lang=de", "en", "de"),
        ("?lang=xx", "xx", "en"),
    ],
)
def test_the_page_of_a_phone_and_its_scripts_are_in_one_language(
    address: str, query: str, browser: str, spoken: Language
) -> None:
    phone = Phone(address, "ABCDEF")
    status, content, headers = phone.ask("GET", query, headers={"Accept-Language": browser})
    page = content.decode()
    assert (status, f'<html lang="{spoken}">' in page) == (200, True)
    assert "Accept-Language" in headers["Vary"]
    named = re.findall('/class/(files/[^"]*)', page)
    assert named == [f"files/{spoken}/class_page.css", f"files/{spoken}/class_page.js"]
    for name in ("class_page", "canvas"):
        phone.code = f"files/{spoken}"
        assert phone.ask("GET", f"{name}.js")[1].decode() == bundle(name, spoken)
    phone.code = "files/xx"
    assert phone.ask("GET", "canvas.js")[0] == 404
    phone.close()
