"""HTTP: calls and refusals as values, and the transport that sends the calls."""
