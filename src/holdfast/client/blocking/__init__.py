"""The blocking classes. Each wraps its asynchronous class and runs it in an event loop in a separate thread."""
