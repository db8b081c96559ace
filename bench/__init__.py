"""The benchmark: ratios to a server's ceiling, to peers and to the disk, all measured in one run (`make bench`)."""
