"""Tables and fitted selectors in and out: readers, sources that stay on disk, writers, atomic files."""
