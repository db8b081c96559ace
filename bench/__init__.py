"""The benchmark (`make bench`) compares the service with the limits of HTTP server and disk, and with other stacks."""
