"""Compares the service with the limits of the HTTP server and the disk, and with other stacks: `make bench`."""
