"""Settings from environment variables: the form of a row, the parsers, and the rows that service and indexer share."""
