"""Information alignment (Deng et al. 2021): how much of one text is grounded in another, token by token."""
