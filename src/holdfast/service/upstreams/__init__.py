"""HTTP clients of the service's upstreams: chain, bundler, indexer."""
