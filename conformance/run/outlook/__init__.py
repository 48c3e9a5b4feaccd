"""What a run would do and decide, without running it: the plan, what unlocks rules, a rule explained."""
