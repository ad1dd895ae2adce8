"""A class follows its lecturer: how long until the last phone has the picture of the next scene.

    python -m tests.benchmarks.classroom [--checkpoints FOLDER] [--phones 40] [--own 10] [--scenes 6]

The lecturer is a WebSocket client that types another sentence; the phones are HTTP clients, and some of them have
translated a sentence of their own at the same moment. The clock starts when the lecturer presses Enter, so it
includes the translation and the lecturer's own page. The goal is 2 s for 40 phones on 2 cores.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.benchmarks.visitors import cpu_seconds, resident, sentence
from tests.support.browser_driver import ROOT, started_app
from tests.support.class_phones import Phone
from tests.support.raw_client import Tab


def next_picture(phone: Phone) -> tuple[float, int]:
    """When the phone has the next picture, and its size in bytes."""
    before = phone.told.get("picture")
    while phone.news()["picture"] in ("", before):
        pass
    size = len(phone.picture())
    return time.perf_counter(), size


def own_sentence(phone: Phone, text: str) -> tuple[int, float]:
    """Status of the response, and when it came."""
    status = phone.post("sentence", text=text)[0]
    return status, time.perf_counter()


def measure(address: str, process: int, count: int, own: int, scenes: int) -> None:
    """Prints a table, one scene in a line."""
    with Tab(address) as lecturer, ThreadPoolExecutor(2 * count) as pool:
        opener = lecturer.open().buttons()["Open a class"].id
        code = lecturer.open(click=opener).codes()[0]
        lecturer.open(typed=sentence(0, 99))
        phones = [Phone(address, code) for _ in range(count)]
        senders = [Phone(address, code) for _ in range(own)]
        assert {phone.join() for phone in (*phones, *senders)} == {200}
        for phone in phones:
            phone.news()
        print(f"{count} phones, {own} of them with a sentence of their own. Seconds after the lecturer's key:")
        print("scene  half  last  lecturer's page  last own sentence  kB  CPU of the server")
        lasts = []
        for number in range(scenes):
            waiting = [pool.submit(next_picture, phone) for phone in phones]
            time.sleep(0.5)  # all of them wait
            cpu, begin = cpu_seconds(process), time.perf_counter()
            texts = [sentence(i, number) for i in range(1, own + 1)]
            sent = [pool.submit(own_sentence, *each) for each in zip(senders, texts, strict=True)]
            lecturer.open(typed=sentence(77, number))
            page = time.perf_counter() - begin
            arrived = [each.result() for each in waiting]
            statuses = [each.result() for each in sent]
            assert {status for status, _ in statuses} <= {200}, statuses
            times = sorted(when - begin for when, _ in arrived)
            latest = max((when - begin for _, when in statuses), default=0.0)
            lasts.append(times[-1])
            print(
                f"{number + 1:5}  {statistics.median(times):4.2f}  {times[-1]:4.2f}  {page:15.2f}  {latest:17.2f}  "
                f"{arrived[0][1] / 1000:2.0f}  {cpu_seconds(process) - cpu:.2f} s"
            )
        print(f"Last phone: median {statistics.median(lasts):.2f} s, worst {max(lasts):.2f} s")
        print(f"Memory of the server: {resident(process) / 1e6:.0f} MB")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--checkpoints", type=Path, default=ROOT / "pretrained")
    parser.add_argument("--phones", type=int, default=40)
    parser.add_argument("--own", type=int, default=10)
    parser.add_argument("--scenes", type=int, default=6)
    chosen = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory() as folder,
        started_app(chosen.checkpoints, Path(folder) / "log") as (address, process),
    ):
        measure(address, process, chosen.phones, chosen.own, chosen.scenes)


if __name__ == "__main__":
    main()
