"""Where this project is. Files that are no program repeat it; a test compares them."""

from typing import Final

REPOSITORY: Final = "github.com/aks-gpu/aks-gpu"
