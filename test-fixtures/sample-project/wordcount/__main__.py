import sys
from pathlib import Path

from wordcount import count_words

file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "poem.txt"
print(sum(count_words(file.read_text(encoding="utf-8")).values()))
