"""What if: six experiments that change the model or the sentence while the model runs, each a picture of its own."""

from importlib import import_module

from app.stage.scene import Scene
from app.state.choices import EXPERIMENT
from app.views.shared.buttons import buttons

# The module below this folder that draws it, and its name on the page
EXPERIMENTS = {
    "heads": "Switch parts off",
    "masks": "Take a mask away",
    "attention": "Move the attention",
    "order": "Shuffle the words",
    "words": "Change a word",
    "patch": "Patch a vector",
}


def draw(scene: Scene) -> None:
    """Draws the line of experiments, and the one that is chosen."""
    name = buttons(EXPERIMENT, EXPERIMENTS, "Experiment", says=False)
    import_module(f"app.views.whatif.{name}_part").draw(scene)
