"""Plain clients of what the service asks over HTTP: chain, bundler, indexer."""
