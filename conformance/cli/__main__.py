"""``python -m conformance.cli``."""

import sys

from conformance.cli import main
from conformance.traffic.garbage_collector import set_for_a_command

set_for_a_command()
sys.exit(main())
