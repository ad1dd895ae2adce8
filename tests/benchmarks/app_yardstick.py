"""The yardstick of the app's benchmark: BertViz's model view as it comes, drawn in the same browser.

The page is the one that `bertviz.model_view` writes, with the attention of encoder, decoder and between them. It
fetches three libraries from a network; here they are handed to it from `app/static` (require.js, which it asks for, as
the two lines that it needs of it), so that no network is timed.
"""

import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from bertviz import model_view

from app.views.attention.bertviz_html import STATIC
from transformer.analysis.trace import trace
from transformer.decoding.translator import Translator
from transformer.model.attention_kinds import SITES

REQUIRE = """window.require = {config: () => {}};
window.requirejs = (names, start) => start(window.jQuery, window.d3);"""


def stock_page(translator: Translator, sentence: str) -> str:
    """What `bertviz.model_view` returns for a sentence and its translation: HTML."""
    found = translator.translate(sentence).sentences[0]
    hypothesis = found.hypotheses[0]
    sites = {kind: f"{site.format('*')}.weights" for kind, site in SITES.items()}
    weights = {
        kind: [torch.tensor(layer)[None] for layer in recorded(translator, found.source_ids, hypothesis.ids, site)]
        for kind, site in sites.items()
    }
    page: str = model_view(
        encoder_attention=weights["encoder"],
        decoder_attention=weights["decoder"],
        cross_attention=weights["cross"],
        encoder_tokens=list(map(str, range(weights["cross"][0].shape[3]))),
        decoder_tokens=list(map(str, range(weights["cross"][0].shape[2]))),
        html_action="return",
    ).data
    return page


def recorded(translator: Translator, source: Sequence[int], target: Sequence[int], site: str) -> list[np.ndarray]:
    """What a pass records at a site, layer by layer: (H, Q, K) each."""
    return list(trace(translator.model, source, target, [site]).arrays.values())


def yardstick(translator: Translator, browser: Any, folder: Path, sentences: list[str]) -> float:
    """Seconds from opening that page, a file, until the browser has drawn it: the median over the sentences."""
    libraries = "\n".join([(STATIC / name).read_text("utf-8") for name in ("jquery.min.js", "d3.min.js")] + [REQUIRE])
    times = []
    for number, sentence in enumerate(sentences):
        path = folder / f"{number}.html"
        path.write_text(f"<!doctype html><meta charset='utf-8'>{stock_page(translator, sentence)}", "utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.route(re.compile("^https:"), lambda route: route.fulfill(body=libraries, content_type="text/javascript"))
        began = time.perf_counter()
        page.goto(path.as_uri())
        page.locator("#vis svg").first.wait_for()
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        times.append(time.perf_counter() - began)
        page.close()
    return statistics.median(times)
