"""Reports: the page, the pictures and the text that tell of a night."""
