"""`holdfast check`: whether the settings, the database and the upstreams work."""
