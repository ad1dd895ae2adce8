"""The parts of the page that need JavaScript in the browser. They are small, load nothing from other servers and use no
framework.

Each part is a Streamlit component (v2): a folder with its Python, JavaScript and CSS. Text reaches the page only by
`textContent`, never as markup, so whatever a user types stays text (test_hostile_words_are_drawn_as_words).
"""

from app.components.attention_lines import attention_lines as attention_lines
from app.components.causal_matrix import causal_matrix as causal_matrix
from app.components.cell_grid import cell_grid as cell_grid
from app.components.chart import chart as chart
from app.components.choice_list import choice_list as choice_list
from app.components.color_scheme import color_scheme as color_scheme
from app.components.comparison import comparison as comparison
from app.components.copy_button import copy_button as copy_button
from app.components.copy_link import copy_link as copy_link
from app.components.decoding_loop import decoding_loop as decoding_loop
from app.components.difference import difference as difference
from app.components.document_language import document_language as document_language
from app.components.explained_words import explained_words as explained_words
from app.components.frames import frames as frames
from app.components.head_changes import head_changes as head_changes
from app.components.head_grid import head_grid as head_grid
from app.components.head_switches import head_switches as head_switches
from app.components.held_data import held_data as held_data
from app.components.language_choice import language_choice as language_choice
from app.components.lecture import LectureState as LectureState
from app.components.lecture import lecture as lecture
from app.components.meter import meter as meter
from app.components.model_cards import model_cards as model_cards
from app.components.model_walk import model_walk as model_walk
from app.components.next_token import next_token as next_token
from app.components.outcome import outcome as outcome
from app.components.position_edits import position_edits as position_edits
from app.components.presenter import presenter as presenter
from app.components.query_scene import query_scene as query_scene
from app.components.question_card import question_card as question_card
from app.components.ranking import ranking as ranking
from app.components.residual_flow import residual_flow as residual_flow
from app.components.save_picture import save_picture as save_picture
from app.components.search_tree import search_tree as search_tree
from app.components.softmax_scene import softmax_scene as softmax_scene
from app.components.switches import switches as switches
from app.components.tab_memory import tab_memory as tab_memory
from app.components.time_machine import time_machine as time_machine
from app.components.token_picker import token_picker as token_picker
from app.components.token_strip import token_strip as token_strip
from app.components.translation_line import Line as Line
from app.components.translation_line import Mark as Mark
from app.components.translation_line import Sentences as Sentences
from app.components.translation_line import translation_line as translation_line
from app.components.vector_strips import vector_strips as vector_strips
from app.components.word_order import word_order as word_order
