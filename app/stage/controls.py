"""The bar of what is chosen, on every page in the same place: directly under the sentence, in view while one scrolls.

Its first line has the kind of attention (or the stack), the layer and the head; below it there is a line for each token
that is chosen: the row that asks, and the one that is looked at. What a page never uses is left out; what it uses at
some of its stations only is grey at the others, so that nothing jumps.

Draw it inside the page's fragment, before anything else: a choice then draws the fragment again and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import components
from app.components.switches import Button, Options, switches
from app.figures.axes import TokenAxis, visible
from app.figures.theme import ground, role_color
from app.stage.sentence import Scene, headline
from app.state.session import HEAD, KIND, LAYER, OTHER_TOKEN, SOURCE_TOKEN, STEP, Place, choose_position, is_dark
from app.state.url import keep_in_address, linked, position, stack_from_old_link
from app.views.shared.choose import SHORT, choose_head, clearest_of
from transformer.model.attention_kinds import KINDS, Kind, depth

Stack = Literal["encoder", "decoder"]

STACK = "stack"
STACKS: tuple[Stack, ...] = ("encoder", "decoder")
CLEAREST = (
    "The head that looks most sharply at words (not at punctuation or </s>), and at another from row to row. The page "
    "opens with it. Of encoder-decoder attention the decoder's first layer stands back: its queries know little more "
    "than the piece that is read, and may align that piece instead of the predicted one."
)
_WRITER = "kind_of_decoder"  # which of the decoder's two kinds was chosen last
_DEEPER = "deeper_layer"  # (chosen where a stack has so many layers, shown instead where it has not)
_KEYS = {STEP: "pick_step", SOURCE_TOKEN: "pick_source", OTHER_TOKEN: "pick_other"}


@dataclass(frozen=True)
class Bar:
    """The two places in the bar; what is drawn in them stands in the order in which it is asked for."""

    scene: Scene
    heads: DeltaGenerator
    tokens: DeltaGenerator

    def kind_layer_head(self) -> tuple[Kind, int, int]:
        """Kind, layer and head, the latter two from 0. On opening: the clearest head of that kind."""
        kind = linked(KIND, tuple(KINDS), "cross")
        kinds = Options(KIND, "Attention", [SHORT[each] for each in KINDS], list(KINDS).index(kind))
        return kind, *self._choose(kind, [kinds])

    def stack(self) -> Stack:
        """Encoder or decoder: the one in which the chosen kind of attention asks."""
        stack_from_old_link()
        kind = linked(KIND, tuple(KINDS), "cross")
        if kind != "encoder":
            st.session_state[_WRITER] = kind
        stack: Stack = "encoder" if kind == "encoder" else "decoder"
        with self.heads:
            line = [Options(STACK, "Stack", [each.capitalize() for each in STACKS], STACKS.index(stack))]
            switches(line, None, key="switches", on_choose=lambda _, index: _choose_stack(STACKS[index]))
        return stack

    def layer_and_head(
        self, kind: Kind, *, on_layer: Callable[[], None] | None = None, layers: bool = True, heads: bool = True
    ) -> tuple[int, int]:
        """Layer and head, from 0. On opening: the clearest, see `app.figures.heads.clarity`.

        Args:
            on_layer: is called when another layer was chosen.
            layers, heads: whether they mean something just now; else they are grey.
        """
        return self._choose(kind, [], on_layer, layers, heads)

    def _choose(
        self,
        kind: Kind,
        before: list[Options],
        on_layer: Callable[[], None] | None = None,
        layers: bool = True,
        heads: bool = True,
    ) -> tuple[int, int]:
        count = depth(self.scene.config, kind)
        clearest = clearest_of(self.scene, kind)
        layer = _layer(count, clearest[0])
        of_layer = clearest if layer == clearest[0] else clearest_of(self.scene, kind, layer)
        head = _number(HEAD, self.scene.config.heads, of_layer[1])

        def choose(name: str, index: int) -> None:
            st.session_state[name] = tuple(KINDS)[index] if name == KIND else index + 1
            if name == LAYER and on_layer:
                on_layer()

        def choose_clearest() -> None:
            choose_head(*clearest)
            if on_layer:
                on_layer()

        line = [
            *before,
            Options(LAYER, "Layer", _numbers(count), layer, disabled=not layers),
            Options(HEAD, "Head", _numbers(self.scene.config.heads), head, disabled=not heads),
        ]
        button = Button("Clearest head", CLEAREST, disabled=not (layers and heads))
        with self.heads:
            switches(line, button, key="switches", on_choose=choose, on_press=choose_clearest)
        return layer, head

    def row(self, stack: Stack, *, disabled: bool = False, then: Callable[[], None] | None = None) -> int:
        """The chosen row of a stack, from 0: a position in the source, or a step t of the decoder, which reads piece t
        and predicts the next. Opens with the first. `then` is called after another was chosen."""
        place, label = (SOURCE_TOKEN, "Token") if stack == "encoder" else (STEP, "Step t")
        axis = self.scene.source if stack == "encoder" else self.scene.target
        with self.tokens:
            return row_of_tokens(axis, place, label, key=_KEYS[place], disabled=disabled, then=then)

    def token(self, axis: TokenAxis, place: Place, label: str, default: int = 0) -> int:
        """The chosen token of an axis, from 0. Opens with the default."""
        with self.tokens:
            return row_of_tokens(axis, place, label, default, key=_KEYS[place])


def bar(scene: Scene, *, translation: bool = True) -> Bar:
    """Begins the bar, and below it says the translation, unless the page has it in its first picture."""
    keep_in_address()
    with st.container(key="chosen"):  # see page.css
        color = ground(is_dark())
        st.html(f"<style>.st-key-chosen, [data-testid='stHeader'] {{ background: {color} !important; }}</style>")
        begun = Bar(scene, st.container(key="choose"), st.container(key="tokens"))
    if translation:
        headline(scene)
    return begun


def row_of_tokens(
    axis: TokenAxis,
    place: Place,
    label: str,
    default: int = 0,
    *,
    key: str,
    disabled: bool = False,
    then: Callable[[], None] | None = None,
) -> int:
    """The tokens of an axis, of which one is chosen; which, from 0. `then` is called after another was."""
    chosen = position(place, len(axis), default)

    def choose(index: int) -> None:
        choose_position(place, index)
        if then:
            then()

    components.picker(
        [visible(token) for token in axis.tokens],
        chosen,
        label,
        color=role_color("key" if place == OTHER_TOKEN else axis.role, is_dark()),
        key=key,
        on_choose=choose,
        second=[visible(token) for token in axis.predicts],
        disabled=disabled,
    )
    return chosen


def _choose_stack(stack: Stack) -> None:
    st.session_state[KIND] = "encoder" if stack == "encoder" else st.session_state.get(_WRITER, "cross")


def stands_in(layer: int) -> bool:
    """Whether this layer, from 1, is shown in the place of a deeper one that another stack has not."""
    return bool(layer == st.session_state.get(_DEEPER, (0, 0))[1])


def _layer(count: int, default: int) -> int:
    """The layer, from 0. One that this stack has not is chosen again in a stack that has it, unless another has been
    chosen since (test_a_layer_that_the_decoder_lacks_is_chosen_again_in_the_encoder)."""
    chosen = st.session_state.get(LAYER)
    deeper, instead = st.session_state.get(_DEEPER, (0, 0))
    if isinstance(chosen, int) and chosen > count:
        layer = _number(LAYER, count, default)
        st.session_state[_DEEPER] = (chosen, layer + 1)
        return layer
    if chosen != instead:
        st.session_state.pop(_DEEPER, None)
    elif deeper and deeper <= count:
        st.session_state[LAYER] = deeper
        del st.session_state[_DEEPER]
    return _number(LAYER, count, default)


def _number(key: str, count: int, default: int) -> int:
    """A choice of 1 to `count`, given from 0."""
    return linked(key, range(1, count + 1), default + 1) - 1


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]
