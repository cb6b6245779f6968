"""A small bookshop: prices, a catalogue, a ledger in sqlite, feeds in files, delivery, and a command line."""
