"""Valid names of resource groups."""

import re
from datetime import date

# The date of these facts.
AS_OF = date(2026, 11, 22)

# The letters and digits of every language.
NAME = re.compile(r"[\w().-]{0,89}[\w()-]")
NAME_RULE = "1 to 90 letters, digits, '.', '_', '-', '(' and ')', not ending with a period"
