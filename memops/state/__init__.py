"""State: what memops keeps in the state folder, and for how long."""
