"""The fast lane of a replay: cached request templates, responses, comparisons and log lines.

Take it away (``--no-cache``) and a replay is the same, slower.
"""
