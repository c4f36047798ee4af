from nlgauge.cli import main

main()
