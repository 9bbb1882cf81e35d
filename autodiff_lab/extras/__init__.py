"""Everything the core works without; each module loads when one of its public names is first used."""
