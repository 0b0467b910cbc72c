"""Reading matrix pairs from files."""
