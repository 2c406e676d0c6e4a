"""What several test modules share: source readers, guards, servers."""
