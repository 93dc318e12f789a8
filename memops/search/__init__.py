"""Search: the retrievers that recall is graded with."""
