"""``report.html``: the whole run on one page that needs no other file."""
