"""What makes the book a compendium: notebooks, results, claims, figures, gates.

The core of the package never imports this; it needs the packages of the dependency
group ``book`` and a checkout of the repository.
"""
