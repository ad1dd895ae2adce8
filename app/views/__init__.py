"""One folder per page. Its page.py reads the state, asks `app.compute` for data and places figures."""
