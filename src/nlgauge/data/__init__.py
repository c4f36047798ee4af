"""Dataset and Panel, reading and writing them: plain tables in tables/, foreign formats in readers/."""
