"""What the visitor has chosen, and the URL that holds it."""
