"""The article, made to happen twice on the rehearsal cloud: by hand, and by this program."""
