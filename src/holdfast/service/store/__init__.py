"""What the service keeps: the Store port, and a room for each kind of database that fills it."""
