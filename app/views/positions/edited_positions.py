"""Whether an edit changes the positions that a stack adds to its embeddings."""

from app.stage.controls import Stack
from app.stage.scene import Scene
from transformer.model.edited_transformer import EditedTransformer


def are_edited(scene: Scene, stack: Stack) -> bool:
    """Whether an edit changes what is added. The table of positions stays as it is."""
    model = scene.subject.translator.model
    return isinstance(model, EditedTransformer) and f"{stack}.embedding.positions" in model.edits
