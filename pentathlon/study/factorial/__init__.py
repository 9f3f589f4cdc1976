"""Factorial designs: the arms of a study whose factors are settings of one system."""
