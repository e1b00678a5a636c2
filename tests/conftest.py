"""For all tests."""

import signal

# A shell that starts `make test` in the background lets it ignore Ctrl-C, and so would every process that the tests start:
# those that are interrupted on purpose would never end.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
