"""The build: notebooks, experiments, gates, rendering, and what pages show."""
