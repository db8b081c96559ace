"""What the service stores: the Store port, and a room for each kind of database."""
