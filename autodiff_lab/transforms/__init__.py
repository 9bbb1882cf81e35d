"""Built on the tape: Jacobians and custom derivatives."""
