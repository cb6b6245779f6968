"""Messages between parent and worker: traces, observations, feedback, and the protocol that checks them.

The worker writes them, `fitgym.execution` reads them, and the engine and `fitgym.suite` use the results.
"""
