import unittest

from wordcount import count_words


class CountWords(unittest.TestCase):
    def test_case_does_not_matter(self):
        self.assertEqual(count_words("One two\ntwo  ONE"), {"one": 2, "two": 2})
