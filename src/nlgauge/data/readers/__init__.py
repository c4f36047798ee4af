"""Readers: one file per format. A reader says whether it knows a file, and turns it into a Dataset.

    @register("reader", "summeval")
    class SummEval:
        \"\"\"SummEval jsonl: model outputs with every expert and crowd rating.\"\"\"

        @staticmethod
        def recognises(peek: Peek) -> bool: ...

        @staticmethod
        def read(path: Path, **options: Any) -> Dataset: ...

`nlgauge.load` asks every reader; a plain table (`data/load.py`) is what is left when none answers.
"""
