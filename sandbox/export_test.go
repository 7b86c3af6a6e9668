package sandbox

import "io/fs"

// Follow is where a path leads.
func Follow(tree fs.FS, name string) string { return follow(tree, name).path }
