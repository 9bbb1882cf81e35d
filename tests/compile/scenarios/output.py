"""Output of a program: print, logging, warnings, streams and files."""

import contextlib
import csv
import io
import json
import logging
import pickle
import sys
import traceback
import types
import warnings

import autodiff_lab as lab
from tests.compile.scenarios import X, attempt, scenario


def _said(name, say, compiles=False):
    """Register a program that says something on a stream in each call."""

    def program(wrap):
        stream = io.StringIO()

        @wrap
        def f(x):
            say(stream, x)
            return x * 2.0

        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            results = [f(X) for _ in range(3)]
        yield results
        yield stream.getvalue()

    program.__name__ = name
    scenario(compiles=compiles)(program)


_said("print", lambda s, x: print("step"))
_said("print of a shape", lambda s, x: print(x.shape))
_said("print of a tensor", lambda s, x: print(x))
_said("print of a repr", lambda s, x: print(repr(x), f"{x}"))
_said("print to a stream", lambda s, x: print("step", file=s))
_said("print in a condition", lambda s, x: print("two") if x.shape == (2,) else None)
_said("print in a comprehension", lambda s, x: [print(n) for n in range(2)])
_said("print in a helper", lambda s, x: _loud("helper"))
_said("print through a partial", lambda s, x: _louder("partial"))
_said("write to standard output", lambda s, x: sys.stdout.write("step\n"))
_said("write to standard error", lambda s, x: print("step", file=sys.stderr))
_said("write to a stream", lambda s, x: s.write("x"))
_said("writelines", lambda s, x: s.writelines(["a", "b"]))
_said("json.dump", lambda s, x: json.dump([1], s))
_said("csv writer", lambda s, x: csv.writer(s).writerow([1, 2]))
_said("lab.print", lambda s, x: lab.print("x", x, output_stream=sys.stdout))
_said("traceback", lambda s, x: traceback.print_exception(ValueError("v"), file=s))
_said("truncate", lambda s, x: s.write("a") and s.seek(0))
_said("warn through a stream", lambda s, x: _warned(s))


def _loud(words):
    print(words)


_louder = __import__("functools").partial(print, "said")


def _warned(stream):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *rest, **more: stream.write(f"{message}\n")
        warnings.warn("hm", stacklevel=1)


@scenario()
def warning(wrap):
    @wrap
    def f(x):
        warnings.warn("hm", stacklevel=1)
        return x * 2.0

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            f(X)
    yield [str(w.message) for w in caught]


@scenario()
def warning_made_an_error(wrap):
    @wrap
    def f(x):
        warnings.warn("hm", stacklevel=1)
        return x * 2.0

    with warnings.catch_warnings():
        for action in ("ignore", "error", "ignore"):
            warnings.simplefilter(action)
            yield attempt(f, X)


class _Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def _logger(level="INFO"):
    handler = _Kept()
    logger = logging.Logger("scenario", level)
    logger.addHandler(handler)
    return logger, handler.lines


@scenario()
def logging_info(wrap):
    logger, lines = _logger()

    @wrap
    def f(x):
        logger.info("step of %s", x.shape)
        return x * 2.0

    for _ in range(3):
        f(X)
    yield lines


@scenario()
def logging_below_its_level(wrap):
    logger, lines = _logger("WARNING")

    @wrap
    def f(x):
        logger.info("step")
        return x * 2.0

    f(X)
    logger.setLevel("INFO")
    f(X)
    f(X)
    yield lines


@scenario()
def logging_through_the_root(wrap):
    handler = _Kept()
    handler.addFilter(lambda record: record.name == "root")  # a function that runs eagerly reports it, too
    logging.getLogger().addHandler(handler)
    try:
        f = wrap(lambda x: (logging.warning("root"), x * 2.0)[1])  # noqa: LOG015
        f(X)
        f(X)
        yield handler.lines
    finally:
        logging.getLogger().removeHandler(handler)


@scenario()
def logger_under_an_attribute(wrap):
    logger, lines = _logger()
    trainer = types.SimpleNamespace(log=logger.warning)

    @wrap
    def f(x):
        trainer.log("step")
        return x

    f(X)
    f(X)
    yield lines


@scenario()
def handler_added_later(wrap):
    logger = logging.Logger("scenario", "INFO")
    logger.addHandler(logging.NullHandler())
    f = wrap(lambda x: (logger.info("step"), x)[1])
    f(X)
    handler = _Kept()
    logger.addHandler(handler)
    f(X)
    yield handler.lines


@scenario()
def pickle_dumped(wrap):
    stream = io.BytesIO()
    f = wrap(lambda x: (pickle.dump(1, stream), x)[1])
    for _ in range(3):
        f(X)
    yield len(stream.getvalue())


@scenario()
def progress_bar(wrap):
    class Bar:
        def __init__(self):
            self.done, self.text = 0, ""

        def update(self):
            self.done += 1
            self.text = "#" * self.done

    bar = Bar()

    @wrap
    def f(x):
        bar.update()
        return x

    for _ in range(3):
        f(X)
    yield bar.text


@scenario()
def print_only_sometimes(wrap):
    stream, settings = io.StringIO(), {"loud": False}

    @wrap
    def f(x):
        if settings["loud"]:
            print("loud", file=stream)
        return x * 2.0

    for settings["loud"] in (False, True, True, False):
        yield f(X)
    yield stream.getvalue()


@scenario()
def callback(wrap):
    events = []
    callbacks = [lambda name: events.append(name)]

    @wrap
    def f(x):
        for call in callbacks:
            call("step")
        return x

    f(X)
    callbacks.append(lambda name: events.append(name.upper()))
    f(X)
    f(X)
    yield events


@scenario()
def builtin_append_as_a_callback(wrap):
    events = []
    f = wrap(lambda x, tell: (tell("step"), x)[1])
    for _ in range(3):
        f(X, events.append)
    yield events
