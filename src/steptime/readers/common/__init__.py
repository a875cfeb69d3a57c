"""What keys mean for all frameworks alike: batch, precision, stages, shares, patterns."""
