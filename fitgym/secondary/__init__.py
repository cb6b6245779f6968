"""Secondary objectives: what decides between test cases that are equally near to their targets. One file each."""
