"""The network: one careful way out, to places that somebody named."""
