"""A class presses Enter together: how long each waits, and what a translation with its page costs the server.

    python -m tests.benchmarks.visitors [--checkpoints FOLDER] [--visitors 20] [--sentences 5] [--pages steps masks ...]

Visitors are WebSocket clients that speak Streamlit's protocol, so no browser takes part in the work: each opens the
page, then all send a sentence of their own at the same moment, wait until the page is drawn, and so on. The table has
the waiting times, the CPU time of the server for each sentence, what of it the model takes (the same translations in a
process of its own), and the memory of the server.

Seconds depend on the machine. What can be compared is the ratio: page over model, and all together over one alone.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.typing import Origin

from tests.support.browser_driver import ROOT, started_app

SUBJECTS = ("My brother", "The old teacher", "Our neighbour", "A young woman", "The doctor")
VERBS = ("bought", "saw", "lost", "wanted", "found")
OBJECTS = ("a red car", "the small house", "two tickets", "an old book", "my glasses", "the last bus", "some bread")
TIMES = ("yesterday", "last summer", "on Monday", "this morning", "in Hamburg", "after dinner", "at the station")


def sentence(visitor: int, number: int) -> str:
    """Another one for each visitor and each turn, of 6 to 8 words."""
    n = 31 * visitor + 7 * number
    return f"{SUBJECTS[n % 5]} {VERBS[n // 5 % 5]} {OBJECTS[n % 7]} {TIMES[(n // 7 + visitor) % 7]}."


class Visitor:
    """One tab: a WebSocket, and the state of the page that it needs to send the next sentence."""

    def __init__(self, socket: Any):
        self.socket = socket
        self.page = ""
        self.box = ""  # id of the sentence box
        self.received = 0  # bytes

    async def open(self, page: str = "") -> None:
        """Opens a page, the first one unless another is named, and waits until it is drawn."""
        self.page = page
        message = BackMsg()
        message.rerun_script.page_name = page
        await self.socket.send(message.SerializeToString())
        await self.until_drawn()
        assert self.box, "the page has no sentence box"

    async def translate(self, text: str) -> float:
        """Sends a sentence; seconds until the page is drawn."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.string_value = self.box, text
        begin = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        await self.until_drawn()
        return time.perf_counter() - begin

    async def until_drawn(self) -> None:
        """Reads what the server sends until its script has finished."""
        while True:
            data = await self.socket.recv()
            self.received += len(data)
            message = ForwardMsg()
            message.ParseFromString(data)
            element = message.delta.new_element
            if element.WhichOneof("type") == "text_input" and element.text_input.label == "Sentence":
                self.box = element.text_input.id
            if element.WhichOneof("type") == "exception":
                raise RuntimeError(element.exception.message)
            if message.WhichOneof("type") == "script_finished":
                return


def cpu_seconds(process: int) -> float:
    """CPU time of a process so far, all threads."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> int:
    """Bytes that a process has in memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()


async def measure(
    address: str, process: int, count: int, sentences: int, pages: Sequence[str] = ("",)
) -> dict[str, Any]:
    """Lets the visitors come and translate, first one alone, then all together. They spread over the pages."""
    url = address.replace("http", "ws") + "/_stcore/stream"
    tabs = [await websockets.connect(url, max_size=None, origin=Origin(address)) for _ in range(count)]
    visitors = [Visitor(tab) for tab in tabs]
    for visitor, page in zip(visitors, cycle(pages), strict=False):
        await visitor.open(page)
    alone = [await visitors[0].translate(sentence(99, number)) for number in range(sentences)]
    memory, waits, before, begin = [resident(process)], [], cpu_seconds(process), time.perf_counter()
    for number in range(sentences):
        waits += await asyncio.gather(*(one.translate(sentence(i, number)) for i, one in enumerate(visitors)))
        memory.append(resident(process))
    result = {
        "alone": statistics.median(alone),
        "p50": statistics.median(waits),
        "p95": sorted(waits)[int(0.95 * (len(waits) - 1))],
        "wall": time.perf_counter() - begin,
        "cpu": (cpu_seconds(process) - before) / len(waits),
        "memory": max(memory),
        "bytes": sum(visitor.received for visitor in visitors) / len(waits),
    }
    for tab in tabs:
        await tab.close()
    return result


MODEL_ALONE = """
import sys, time, torch
torch.set_num_threads(1)
from dataclasses import replace
from transformer import Translator
translator = Translator.load(sys.argv[1])
texts = sys.stdin.read().splitlines()
settings = replace(translator.settings, n_best=min(3, translator.settings.beam))
translator.translate(texts[0], settings)
begin = time.process_time()
for text in texts:
    translator.translate(text, settings)
print((time.process_time() - begin) / len(texts))
"""


def model_alone(checkpoint: Path, count: int, sentences: int) -> float:
    """CPU seconds for a translation without a page."""
    texts = "\n".join(sentence(i, number) for number in range(sentences) for i in range(count))
    command = [sys.executable, "-c", MODEL_ALONE, str(checkpoint)]
    found = subprocess.run(command, input=texts, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(found.stdout)


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=Path, default=ROOT / "pretrained")
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--sentences", type=int, default=5)
    parser.add_argument("--pages", nargs="+", default=[""], help="where the visitors are; default: the first page")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, started_app(chosen.checkpoints, Path(folder) / "log") as app:
        found = asyncio.run(measure(*app, chosen.visitors, chosen.sentences, chosen.pages))
    checkpoint = next(iter(sorted(chosen.checkpoints.glob("en-de.safetensors"))))
    found["model"] = model_alone(checkpoint, chosen.visitors, chosen.sentences)
    if chosen.json:
        print(json.dumps(found))
        return
    print(f"one visitor alone: median {found['alone']:.2f} s")
    print(f"{chosen.visitors} visitors at once: median {found['p50']:.2f} s, p95 {found['p95']:.2f} s")
    print(f"CPU for a sentence: {found['cpu']:.3f} s, of which the model {found['model']:.3f} s")
    print(f"memory at most {found['memory'] / 1e6:.0f} MB; sent for a sentence {found['bytes'] / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
