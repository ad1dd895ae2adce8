"""What the models compute for the pages, computed once and cached."""
