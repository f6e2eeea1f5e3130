"""The artifact: what others take, and what they check it with."""
