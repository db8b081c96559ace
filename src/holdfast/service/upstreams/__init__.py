"""The clients of the service's upstreams: chain, bundler and indexer."""
