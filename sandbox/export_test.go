package sandbox

import "io/fs"

// Follow is the target of a path.
func Follow(tree fs.FS, name string) string { return follow(tree, name).path }
