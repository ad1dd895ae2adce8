"""A page in front of a class, alone or as a scene of a lesson, and the window with the presenter's notes."""
