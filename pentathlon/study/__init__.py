"""What is compared: the study file, its model, and the plan that it expands to."""
