"""Which heads matter? Switches of all heads; the translation follows."""

from app.stage.scene import Scene
from app.views.whatif.before_and_after import before_and_after


def draw(scene: Scene) -> None:
    """Draws the translations of both models."""
    before_and_after(scene, key="whatif_outcome")
