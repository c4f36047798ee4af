"""Other systems, inputs or raters like these: bootstrap and delete-one intervals."""
