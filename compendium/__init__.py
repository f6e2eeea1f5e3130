"""What makes the book a compendium: studies, results, claims, notebooks, gates.

memdlib never imports this and no wheel holds it: it needs the packages of the
dependency group ``book`` and a checkout of the repository.
"""

import sys

# jsonschema, by which nbformat checks notebooks, would build a grammar of addresses as
# it is imported: seconds of every process, for a format that none of them has.
sys.modules.setdefault("rfc3987_syntax", None)
