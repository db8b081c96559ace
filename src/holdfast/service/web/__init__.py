"""The HTTP interface: routes, input, responses, and the entry points for ASGI and RSGI servers."""
