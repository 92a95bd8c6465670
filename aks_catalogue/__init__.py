"""Facts about GPUs on AKS: tables and their readers, without any I/O beyond this folder."""
