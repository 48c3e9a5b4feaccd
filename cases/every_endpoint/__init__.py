"""Every one of the 88 endpoints: who may call it, and whether what it answers has its shape."""
