"""Which metric, system or part is better than another?"""
