"""A folder per page: page.py reads the state, asks `app.compute` for data and places figures. No tensor arithmetic."""
