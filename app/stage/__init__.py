"""What all pages have in common: the top with the sentence, the controls, the template of a page."""
