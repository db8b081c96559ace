"""Operations gather facts, let a rule decide, and have a store or provider act. They know no HTTP."""
