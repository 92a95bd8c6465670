"""What AKS takes for the names of a cluster."""

import re

# ASCII: `\w` would take letters of every language.
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
NAME_RULE = "1 to 63 letters, digits, '_' and '-', with a letter or digit at both ends"
# The beginning of the API server's host name.
DNS_PREFIX = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,52}[A-Za-z0-9])?")
DNS_PREFIX_RULE = "1 to 54 letters, digits and '-', with a letter or digit at both ends"
