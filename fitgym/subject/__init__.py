"""What is tested: the module or class under test as plain data."""
