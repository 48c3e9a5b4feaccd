"""What a report holds, whatever its format."""
