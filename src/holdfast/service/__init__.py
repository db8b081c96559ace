"""The vault service: HTTP interface, operations and providers."""
