"""The fast lane of a replay: cached requests, responses and log lines."""
