"""The figures of the pages, drawn when the site is built."""
