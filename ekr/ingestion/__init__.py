"""From files to a store: read, chunk, embed, write."""
