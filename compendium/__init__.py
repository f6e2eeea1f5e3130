"""What makes the book a compendium: studies, results, claims, notebooks, gates.

memdlib never imports this and no wheel holds it: it needs the packages of the
dependency group ``book`` and a checkout of the repository.
"""

import sys

# jsonschema, by which nbformat checks notebooks, would build a grammar of addresses when
# it is imported: one to four seconds of every process, for a format that none has.
sys.modules.setdefault("rfc3987_syntax", None)
