"""Models: encoders, judges and endpoints that somebody named, and the one careful way out to them."""
