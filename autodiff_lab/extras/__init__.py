"""What the core does without: each part loads when its public name is first asked for."""
