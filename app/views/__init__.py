"""One file a page: reads the state, asks `app.models` for data, places figures. No tensor arithmetic here."""
