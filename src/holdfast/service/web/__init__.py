"""The HTTP surface: routes, input, responses, and the entry points for ASGI and RSGI servers."""
