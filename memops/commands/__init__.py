"""Commands: what a person asks of a store or a plan beside the night, without the terminal."""
