"""Exit of a command: one clear line and an exit code (`docs/exit_codes.md`), without loss of finished results."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from nlgauge.cli._screen import bar
from nlgauge.errors import NlgaugeError, PartlyDone
from nlgauge.foreign_text import for_terminal
from nlgauge.registry import own_file
from nlgauge.terminal import wrapped
from nlgauge.writing import unwritable

WRONG = 2  # usage or data error; errors of typer have it too
PARTLY = 3  # part is done and kept, the rest is not
FAULT = 70  # a fault of nlgauge itself (EX_SOFTWARE): 1 is only for a comparison that failed
PIPE = 128 + 13  # as a shell reports a program whose reader went away
CODES = (
    "Exit codes: 0 done · 1 `gate` failed, `analyze drift` found drift · 2 usage or data error · 3 part is done, or "
    "undecided · 70 a fault of nlgauge · 130 Ctrl-C · 143 terminated"
)


class Stopped(SystemExit):
    """Interruption by Ctrl-C or a signal: a SystemExit, so that event loops, thread pools and typer propagate it."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.words = "stopped" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


def _stop(number: int, frame: FrameType | None) -> None:
    # A second signal does not wait for threads: files on the disk are complete at any moment.
    for each in _signals():
        signal.signal(each, lambda n, _: os._exit(128 + n))
    # Python would print a warning about a request that was created but not sent, after our last line.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    raise Stopped(number)


def _signals() -> list[int]:
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def open_closed_streams() -> None:
    """Open standard streams that the caller closed, connected to the null device.

    Python has no object for them, and the next file that is opened would get their number: a store that is open as
    number 2 would be written over by the first error message.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good


def show_own_warnings() -> None:
    """Print a warning of this package as one line, and others as Python does."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if category.__module__.partition(".")[0] == "nlgauge":
            _say(0, str(message))
        else:
            others(message, category, *where, **more)

    warnings.showwarning = show


def catch_signals() -> None:
    """Let signals end the program as an error does; signals that are ignored (nohup) stay ignored."""
    for number in _signals():
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def ended(run: Callable[[], object]) -> int:
    """Run a command and return its exit code, after one line that explains an error."""
    try:
        code = _code(run)
        sys.stdout.flush()  # a full disk behind `> file` shows only now
    except PartlyDone as error:
        return _say(PARTLY, str(error))
    except NlgaugeError as error:
        return _say(WRONG, str(error))
    except Stopped as stop:
        return _say(int(str(stop.code)), f"{stop.words}: what was finished is kept; run the same command again.")
    except KeyboardInterrupt:  # raised by a library, not by the signal
        return _say(130, "stopped: what was finished is kept; run the same command again.")
    except BrokenPipeError:
        _no_more(sys.stdout)
        return PIPE
    except OSError as error:
        if error.filename is None:
            _no_more(sys.stdout)
        where = error.filename or "the output"
        said = unwritable(where, error) if error.filename is None else f"{where}: {error.strerror}."
        return _say(WRONG, str(said))
    except MemoryError:
        return _say(
            WRONG, "out of memory; `nlgauge score --batch` works in bounded memory; otherwise use a part of the data."
        )
    except Exception as error:
        import traceback

        print("\n".join(map(for_terminal, traceback.format_exc().splitlines())), file=sys.stderr)
        if where := own_file(error):
            return _say(WRONG, f"{where}: a fault of your own file ({type(error).__name__}: {error}).")
        return _say(FAULT, "this is a fault of nlgauge, not of your data; please report it with the lines above.")
    return code


def _code(run: Callable[[], object]) -> int:
    try:
        run()
    except Stopped:
        raise
    except SystemExit as end:
        # typer and rich turn a closed pipe into exit code 1, which is reserved for failed checks.
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        return end.code if isinstance(end.code, int) else WRONG if end.code else 0
    finally:
        bar.close()
    return 0


def _say(code: int, words: str) -> int:
    try:
        print(_whole_words(for_terminal(f"nlgauge: {words}")), file=sys.stderr)
    except OSError:  # nobody listens there either
        _no_more(sys.stderr)
    return code


def _whole_words(text: str) -> str:
    """Return the text as one line in a log, or broken between words on a terminal."""
    if not sys.stderr.isatty():
        return text
    import shutil

    return "\n".join(wrapped(text, shutil.get_terminal_size().columns))


def _no_more(stream: object) -> None:
    """Discard the rest of the buffer, so that the interpreter does not fail on it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())  # type: ignore[attr-defined]
