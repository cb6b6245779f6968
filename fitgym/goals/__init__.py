"""Goals: what the tester wants in the end, and the reward for getting nearer. One file each."""
