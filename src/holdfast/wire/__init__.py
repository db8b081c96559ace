"""What the service and the client share: error table, JSON shapes, encodings. Imports nothing else of ours."""
