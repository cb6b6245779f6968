"""Running test cases in a limited, disposable worker process."""
