"""Types as plain data (hints), and evidence for the types of unannotated parameters.

Introspection calls it; whoever draws or checks values imports `hints`.
"""
