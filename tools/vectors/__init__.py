"""What each file of vectors/ that is computed contains: a module for each subject, with `contents()`."""
