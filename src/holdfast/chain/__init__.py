"""The chain, for service and client: JSON-RPC, user operations, registrations. Imports only `wire`."""
