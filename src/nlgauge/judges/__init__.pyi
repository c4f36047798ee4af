from nlgauge.metrics.judge.client import Asking as Asking
from nlgauge.metrics.judge.cost import Price as Price
from nlgauge.metrics.judge.judge import Judge as Judge
from nlgauge.metrics.judge.reply_parser import parse_reply as parse_reply
from nlgauge.metrics.judge.scale import Scale as Scale
