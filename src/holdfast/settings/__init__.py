"""Settings from environment variables: the type of a row, the parsers, and the rows that service and indexer share."""
