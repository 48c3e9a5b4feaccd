"""``python -m conformance.cli``."""

import sys

from conformance.cli import main
from conformance.traffic.collector import settings_of_a_command

with settings_of_a_command():
    sys.exit(main())
