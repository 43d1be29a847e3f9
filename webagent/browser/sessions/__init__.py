"""What a session brings to a site and keeps of it: profile, login, files and recordings."""
