"""Transfer orders of a workspace (chapter "Transfer orders (admin)")."""
