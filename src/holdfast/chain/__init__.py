"""Access to the chain for the service and the client: JSON-RPC, user operations, registrations. Imports only `wire`."""
