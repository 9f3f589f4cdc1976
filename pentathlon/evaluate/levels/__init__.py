"""What curves over sizes and repetitions show."""
