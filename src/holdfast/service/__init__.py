"""The vault service: HTTP interface, operations, providers."""
