"""Code lengths and complexities: multinomial, generative and of labels."""
