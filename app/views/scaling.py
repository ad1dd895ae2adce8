"""Scaling and softmax: under construction in this commit."""

from app.views.stage import stage

stage()
