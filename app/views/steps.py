"""Step by step: under construction in this commit."""

from app.views.stage import stage

stage()
