"""Types as plain data (hints), and type inference for unannotated parameters.

Introspection calls this package. Code that generates or checks values imports `hints`.
"""
