"""Values of more than one tensor, and state: ragged and sparse tensors, slices, data sets, queues, placeholders."""
