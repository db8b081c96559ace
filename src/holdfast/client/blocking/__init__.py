"""The blocking classes: each over its asynchronous one, through one event loop in a thread."""
