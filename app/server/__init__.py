"""The server around the app: which requests are answered, uploads, visitors."""
