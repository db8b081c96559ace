"""Settings from environment variables: the row type, the parsers, and the rows that the service and indexer share."""
