"""Data in rows: storage, centred and scaled views, checks of what the user gives."""
