"""The benchmark: ratios to a server's ceiling, to peers and to the disk, all taken in one run (`make bench`)."""
