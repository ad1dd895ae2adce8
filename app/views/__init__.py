"""One file a page: reads the state, asks `app.computed` for data, places figures. No tensor arithmetic here."""
