"""Language: words, numbers, dates and values as English and Chinese write them."""
