"""Jupyter's settings in the test charts: it is reached through the proxy of its pod, with a token.

Jupyter reads this file when it starts. What it cannot check here it does not start with.
"""

import os
from pathlib import Path

LEAST_TOKEN = 32
"""Characters."""


def read_token():
    """Return the token of the Secret that the chart mounts.

    An empty one would leave Jupyter open to everyone.
    """
    file = os.environ.get("MASK_RCNN_TOKEN_FILE", "")
    try:
        token = Path(file).read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        # Jupyter would go on after an Exception, with a token of its own that nobody knows.
        raise SystemExit(f"MASK_RCNN_TOKEN_FILE {file!r}: no token can be read: {error}") from error
    if len(token) < LEAST_TOKEN:
        raise SystemExit(f"{file}: a token needs {LEAST_TOKEN} characters, this one has fewer")
    return token


c = get_config()  # noqa: F821  Jupyter runs this file with it

c.IdentityProvider.token = read_token()
# With the token a password could be set that outlives it.
c.PasswordIdentityProvider.allow_password_change = False

c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
# The proxy has looked at the host, and says that the browser speaks HTTPS: cookies are marked so.
c.ServerApp.allow_remote_access = True
c.ServerApp.trust_xheaders = True
c.ServerApp.quit_button = False

c.LabApp.default_url = "/lab/tree/mask-rcnn-trained-model.ipynb"
# Neither packages nor news can be fetched from where it runs; labconfig/ keeps it from asking.
c.LabApp.extension_manager = "readonly"
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
