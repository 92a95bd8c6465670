"""The package as the engine starts it: with this folder, which need not be installed anywhere."""

import sys
from pathlib import Path

# In place of this folder itself, where Python would look first: its modules are no top-level ones.
_ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(_ROOT), str(_ROOT / "plugins")]

from provider_kit.loading import unsearched  # noqa: E402

with unsearched():
    from pulumi.provider import main

    from components.package.provider import Components

if __name__ == "__main__":
    main(Components(), sys.argv[1:])
