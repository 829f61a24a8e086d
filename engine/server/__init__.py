"""The OpenAI-compatible door over HTTP and WebSocket: one more user of `engine.client`."""
