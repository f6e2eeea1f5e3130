"""What a stored result was computed from; ``README.md`` says how to take it over."""
