"""A local AWS for development: moto's server, with what it lacks for the stacks here.

The CDK CLI and boto3 use it as they use AWS. Nothing else imports this package.
"""

from __future__ import annotations

import sys

# jsonschema, which moto brings, loads a grammar of addresses if it is installed: more than half of
# the time in which the server starts, for a check of formats that nobody here asks for.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
