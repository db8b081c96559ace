"""Ground room: HTTP requests and responses for all rooms of the service."""
