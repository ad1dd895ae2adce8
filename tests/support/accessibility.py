"""What an accessibility engine finds in a page."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe

# Of Streamlit's own frame, not of ours: nothing on our side can mend them.
NOT_OURS = {
    "aria-allowed-attr": "stSidebar",  # the sidebar has aria-expanded
    "scrollable-region-focusable": "stCode",
}


def serious(page: Any) -> list[str]:
    """What an accessibility engine finds in a page or a frame of it, of the grades that shut people out.

    What is found while colours still change is looked at again.
    """
    for _ in range(5):
        if not (found := _found(page)):
            return []
        page.wait_for_timeout(500)
    return found


def _found(page: Any) -> list[str]:
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:300]} {node.get('failureSummary', '')[:300]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
        if NOT_OURS.get(rule["id"], "\0") not in node["html"]
    ]
