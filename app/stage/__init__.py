"""The top of every page: sidebar, sentence box, translation, controls."""
