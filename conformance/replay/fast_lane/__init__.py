"""The fast lane of a replay: repeated requests go out from templates, repeated responses are told by bytes.

Take it away (``--no-cache``) and a replay is the same, slower.
"""
