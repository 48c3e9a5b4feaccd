"""A shell has the jobs that it starts in the background ignore interrupts, and tests send some."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
