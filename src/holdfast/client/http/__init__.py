"""HTTP without input or output: calls, refusals, endpoints; two carriers put them on the wire."""
