"""How long a test waits for another process: far longer than that takes, for a machine may be slow, or busy with other
tests. A test that passes waits no longer than it must."""

import os

PATIENCE = float(os.environ.get("HEADLIGHT_PATIENCE", "120"))  # seconds
