"""Azure Resource Manager as the rehearsal cloud plays it, on a loopback port."""
