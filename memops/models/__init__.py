"""Models: encoders, judges and endpoints that somebody named, and the vectors that they made."""
