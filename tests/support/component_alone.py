"""A component on an empty page, without Streamlit and without a server."""

from typing import Any

from app.components.bundles import bundle, style_bundle
from app.languages.catalogues import ENGLISH, Language

# What the component reports is appended to `window.sent`; `window.draw` gives it data, as each run of a page does.
STAND = """async ([source, style]) => {
    const at = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const component = (await import(at)).default;
    document.body.innerHTML = "<div class='root'></div>";
    document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
    window.sent = [];
    const setTriggerValue = (name, value) => sent.push(value);
    let end;
    window.draw = data => {  // as the loader does: each draw ends the one before
        const before = end;
        end = component({ data, parentElement: document.body, setTriggerValue });
        before?.();
    };
}"""
# What `held_data.js` does with the data of a message.
HOLD = """([name, data]) => {
    (window.headlightHeld ??= {})[name] = data;
    document.dispatchEvent(new CustomEvent("headlight-held"));
}"""
# The element by which Streamlit says whether its script runs; `runs` changes what it says.
SCRIPT = """() => {
    document.body.insertAdjacentHTML("afterbegin", "<div data-test-script-state='notRunning'></div>");
    window.runs = state => { document.body.firstElementChild.dataset.testScriptState = state; };
}"""


def mount(page: Any, name: str, css: str = "", language: Language = ENGLISH) -> None:
    """Makes the page ready to `draw` this component.

    Args:
        css: rules of the page around it.
        language: that of its texts and numbers.
    """
    page.evaluate(STAND, [bundle(name, language), style_bundle(name) + css])


def draw(page: Any, data: dict[str, Any]) -> None:
    """Gives the component data."""
    page.evaluate("data => draw(data)", data)


def hold(page: Any, name: str, data: dict[str, Any]) -> None:
    """Holds data for the component as `held_data` does; only values that JSON has."""
    page.evaluate(HOLD, [name, data])


def sent(page: Any) -> list[Any]:
    """What the component has reported so far."""
    found: list[Any] = page.evaluate("sent")
    return found
