"""Operations: each reads facts, lets a rule decide, and acts through the store or a provider.

Operations do not depend on HTTP.
"""
