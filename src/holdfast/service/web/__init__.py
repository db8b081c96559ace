"""The HTTP surface: routes, input, answers, and the entries for ASGI and RSGI servers."""
