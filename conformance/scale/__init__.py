"""A replay that several processes share: workers, what starts them, and the merge of what they found."""
