"""What is in the window of a page, how large its text is, and how many controls it has."""

from typing import Any

from tests.support.browser_pages import PAGES

USUAL, SHORTEST = "the cat sat on the mat because it was too tired", "cat"
LONGEST = " ".join(["the cat sat on the mat"] * 15)
SIZES = ((1280, 720), (1920, 1080))

# The lowest edge of what holds these nodes: their component, or the element of the page that they are in.
BOTTOM = """nodes => Math.max(...nodes.map(node => {
    const holder = node.getRootNode().host ?? node.closest('[data-testid=stElementContainer]') ?? node;
    return holder.getBoundingClientRect().bottom;
}))"""

# Texts in sight that are smaller than `least` px, as they appear on the screen.
TOO_SMALL = """least => {
    const found = [];
    const look = root => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (node.shadowRoot) look(node.shadowRoot);
            if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
            const parent = node.parentElement, range = document.createRange();
            if (!parent || ['STYLE', 'SCRIPT', 'TITLE', 'DESC'].includes(parent.tagName)) continue;
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect(), style = getComputedStyle(parent);
            if (box.bottom < 0 || box.top > innerHeight || !box.width) continue;
            if (!parent.checkVisibility({checkOpacity: true}) || style.clipPath !== 'none') continue;
            if (parent.closest('.katex-mathml, [data-testid=stIconMaterial]')) continue;
            const matrix = parent.getScreenCTM?.();
            const scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
            const size = parseFloat(style.fontSize) * scale;
            if (size < least - 0.1) found.push(`${size.toFixed(1)}: ${node.data.trim().slice(0, 30)}`);
        }
    };
    look(document.querySelector('[data-testid=stMain]'));
    return found;
}"""


# Controls in the window beside the pictures, those of the top included. What is inside a picture belongs to it, and so
# do the buttons of a card; a group of which one is chosen is one control.
CONTROLS = """() => {
    const main = document.querySelector('[data-testid=stMain]'), found = [];
    const bars = [...main.querySelectorAll('*')].filter(node => node.shadowRoot?.querySelector('.switches'));
    const nodes = [main, ...bars.map(node => node.shadowRoot)].flatMap(root =>
        [...root.querySelectorAll('button, input, select, a[href], summary, [role=radiogroup]')]);
    for (const node of nodes) {
        const box = node.getBoundingClientRect();
        if (!box.width || box.top > innerHeight || !node.checkVisibility({checkOpacity: true})) continue;
        if (node.parentElement?.closest('[role=radiogroup], .js-plotly-plot, label, .st-key-cards')) continue;
        if (node.closest('.st-key-checkpoint') && !node.matches('input')) continue;
        found.push((node.getAttribute('aria-label') || node.textContent || node.tagName).trim().slice(0, 40));
    }
    return found;
}"""


def edges(page: Any, name: str) -> dict[str, float]:
    """The lower edges of what must be in the window."""
    selectors = {"heading": ".st-key-question h1", "picture": PAGES[name].pictures[0]}
    if page.locator(".st-key-chosen .switches").count():
        selectors["controls"] = ".st-key-chosen .switches"
    return {part: page.locator(selector).evaluate_all(BOTTOM) for part, selector in selectors.items()}
