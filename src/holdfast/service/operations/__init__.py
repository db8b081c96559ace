"""Operations read facts, let a rule decide, and act through the store or a provider. They do not depend on HTTP."""
