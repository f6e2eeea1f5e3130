"""What we recommend for a kind of data, and how it chooses."""
