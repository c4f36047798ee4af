"""Made-up outputs of two systems, and what two annotators, a judge and a program said of them; for all writers here."""

COUNTRIES = ["France", "Italy", "Spain", "Japan", "Kenya", "Peru"]
SYSTEMS = ["model-a", "model-b"]


def outputs():
    """Yield one dict per output: texts, labels of ann and bob (0 or 1), the judge's label, and a similarity."""
    for k, country in enumerate(COUNTRIES):
        for s, system in enumerate(SYSTEMS):
            good = (k * 3 + s * 2) % 5 > 1
            place = "main" if good else "old"
            yield {
                "id": f"q{k}",
                "n": 2 * k + s,
                "system": system,
                "question": f"Where does the {country} train start?",
                "answer": f"It starts at the {place} station of {country}.",
                "expected": f"At the main station of {country}.",
                "ann": int(good),
                "bob": int(good) if (k + s) % 4 else 1 - int(good),
                "judge": int(good) if (k + 2 * s) % 3 else 1,
                "similarity": round(0.55 + 0.3 * good + 0.01 * k, 3),
            }
