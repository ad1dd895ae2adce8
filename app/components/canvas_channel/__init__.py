"""The invisible half of the canvas: see `app.components.canvas`."""
