"""What makes the book a compendium: studies, results, claims, notebooks, gates.

memdlib never imports this and no wheel holds it: it needs the packages of the
dependency group ``book`` and a checkout of the repository.
"""
