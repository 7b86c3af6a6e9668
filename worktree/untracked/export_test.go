package untracked

// TimesTell reports whether listings are kept for a folder's file system.
func TimesTell(dir string) bool { return timesTell(dir) }
