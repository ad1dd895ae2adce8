"""The controls of a page whose picture has none of its own.

The first line has the kind of attention (or the stack), the layer and the head; below it there is a line for each token
that can be chosen. A control that the page never uses is left out; one that it does not use at the moment is grey, so
that nothing moves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.components.switches import Button, Options, switches
from app.figures.axes import TokenAxis, in_words
from app.figures.theme import role_color
from app.languages import _, gettext_noop
from app.stage.heads import SHORT, chosen_head, clearest_of
from app.stage.scene import Scene
from app.state.choice import Choice
from app.state.choices import HEAD, KIND, LAYER, OTHER_TOKEN, SOURCE_TOKEN, STEP
from app.state.events import choose_head
from transformer.analysis.edits.checks import Stack
from transformer.model.attention_kinds import KINDS, Kind, depth

STACK = "stack"
STACKS: tuple[Stack, ...] = ("encoder", "decoder")
STACK_NAMES: dict[Stack, str] = {"encoder": gettext_noop("Encoder"), "decoder": gettext_noop("Decoder")}
CLEAREST_HELP = gettext_noop(
    "The head whose rows put the largest weights on words (not on punctuation or </s>), and on different words in "
    "different rows. For encoder-decoder attention, the first decoder layer is left out if there are others: its "
    "queries depend on little more than the token that is read, and may align that token instead of the predicted one."
)
_DECODER_KIND = "kind_of_decoder"  # which of the decoder's two kinds was chosen last


@dataclass(frozen=True)
class Controls:
    """The two places for controls; they are drawn in the order in which a page asks for them."""

    scene: Scene
    heads: DeltaGenerator
    tokens: DeltaGenerator

    def kind_layer_head(self, opening: Kind = "cross", *, in_picture: bool = False) -> tuple[Kind, int, int]:
        """Draws the choice of kind, layer and head. Returns them, layer and head from 0. Opens with
        `app.stage.heads.opening_head`.

        Args:
            in_picture: the head is chosen in the picture of the page, so the line has only the kind and the layer.
        """
        kind = KIND.open(opening, KINDS)
        kinds = Options(KIND.key, _("Attention"), [_(SHORT[each]) for each in KINDS], list(KINDS).index(kind))
        return kind, *self._choose(kind, [kinds], in_picture=in_picture)

    def stack(self) -> Stack:
        """Draws the choice between encoder and decoder. Returns the chosen stack, whose tokens are the queries of the
        chosen kind of attention."""
        kind = KIND.open("cross", KINDS)
        if kind != "encoder":
            st.session_state[_DECODER_KIND] = kind
        stack: Stack = "encoder" if kind == "encoder" else "decoder"
        with self.heads:
            line = [Options(STACK, _("Stack"), [_(STACK_NAMES[each]) for each in STACKS], STACKS.index(stack))]
            switches(line, None, key="switches", on_choose=lambda unused, index: choose_stack(STACKS[index]))
        return stack

    def layer_and_head(self, kind: Kind, *, enabled: bool) -> tuple[int, int]:
        """Draws the choice of layer and head, grey if not `enabled`. Returns both, from 0. Opens with
        `app.stage.heads.opening_head`."""
        return self._choose(kind, [], enabled)

    def _choose(
        self,
        kind: Kind,
        before: list[Options],
        enabled: bool = True,
        in_picture: bool = False,
    ) -> tuple[int, int]:
        count = depth(self.scene.config, kind)
        layer, head = chosen_head(self.scene, kind)

        def choose(name: str, index: int) -> None:
            if name == KIND.key:
                KIND.choose(tuple(KINDS)[index])
            elif name == HEAD.key:
                HEAD.choose(index + 1)
            else:
                LAYER.choose(index + 1)

        def choose_clearest() -> None:
            choose_head(*clearest_of(self.scene, kind))

        line = [*before, Options(LAYER.key, _("Layer"), _numbers(count), layer, disabled=not enabled)]
        button = None
        if not in_picture:
            line.append(Options(HEAD.key, _("Head"), _numbers(self.scene.config.heads), head, disabled=not enabled))
            button = Button(_("Clearest head"), _(CLEAREST_HELP), disabled=not enabled)
        with self.heads:
            switches(line, button, key="switches", on_choose=choose, on_press=choose_clearest)
        return layer, head

    def row(self, stack: Stack, *, disabled: bool = False) -> int:
        """The chosen row of a stack, from 0: a position in the source, or a step t of the decoder, which reads token t
        and predicts the next. Opens with the first."""
        place, label = (SOURCE_TOKEN, _("Token")) if stack == "encoder" else (STEP, _("Step t"))
        axis = self.scene.source if stack == "encoder" else self.scene.target
        with self.tokens:
            return row_of_tokens(axis, place, label, key=f"pick_{place.key}", disabled=disabled)

    def token(self, axis: TokenAxis, place: Choice[int], label: str, opening: int = 0) -> int:
        """The chosen token of an axis, from 0."""
        with self.tokens:
            return row_of_tokens(axis, place, label, opening, key=f"pick_{place.key}")


def controls(scene: Scene) -> Controls:
    """Draws the places for the controls."""
    with st.container(key="chosen"):  # see stage.css
        return Controls(scene, st.container(key="choose"), st.container(key="tokens"))


def row_of_tokens(
    axis: TokenAxis,
    place: Choice[int],
    label: str,
    opening: int = 0,
    *,
    key: str,
    disabled: bool = False,
    then: Callable[[], None] | None = None,
) -> int:
    """The tokens of an axis, one of which is chosen. Returns its position, from 0. `then` is called after a choice."""
    chosen = min(max(place.open(opening), 0), len(axis) - 1)

    def choose(index: int) -> None:
        place.choose(index)
        if then:
            then()

    components.token_picker(
        [in_words(token) for token in axis.tokens],
        chosen,
        label,
        color=role_color("key" if place == OTHER_TOKEN else axis.role),
        key=key,
        on_choose=choose,
        second=[in_words(token) for token in axis.predicts],
        disabled=disabled,
    )
    return chosen


def choose_stack(stack: Stack) -> None:
    """Chooses a stack: a kind of attention whose queries are its tokens."""
    KIND.choose("encoder" if stack == "encoder" else st.session_state.get(_DECODER_KIND, "cross"))


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]
