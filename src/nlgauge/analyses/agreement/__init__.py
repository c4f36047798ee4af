"""Which metric agrees with people, how well people agree, and how sure each number is."""
