"""The tests, one folder or file a layer; the files at the top hold the house's own rules."""
