"""A stack brought up on this machine, on the rehearsal cloud."""
