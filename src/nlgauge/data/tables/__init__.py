"""Reading plain tables: bytes, fields, columns and their roles, words as values."""
