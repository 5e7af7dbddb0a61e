"""Counts words."""

from collections import Counter


def count_words(text: str) -> Counter:
    return Counter(word.lower() for word in text.split())
