"""Settings from environment variables: the row type, the parsers, and the rows that service and indexer share."""
