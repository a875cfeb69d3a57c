"""What is asked: model shapes, accelerators, layouts, batches, and the checks on them."""
