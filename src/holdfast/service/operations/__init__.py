"""Operations: each reads facts, lets a rule decide, and acts through the store or a provider.

They do not depend on HTTP.
"""
