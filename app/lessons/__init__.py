"""Lessons: a lesson is a text file beside this one, see README.md. `python -m app.lessons check FILE` checks one."""
