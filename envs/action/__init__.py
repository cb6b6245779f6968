"""Actions: typed changes to the engine, the spaces they are chosen from, and their JSON form."""
