"""Looking at the graph of a store: an overview, one entity, and the whole as GraphML, JSON or a web page."""
