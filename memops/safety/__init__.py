"""Safety: what text from a store may hold that harms: secrets, orders to models, control characters, false witness."""
