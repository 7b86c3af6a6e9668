// Package backup keeps copies of the files of a working tree that the trees of conversations lack: untracked
// files, and ignored files outside of ignored folders.
//
// A moment has the files before a program's run: a list of paths, and one stored pack with the content that
// is new since the earlier moments of the working tree. Changes are the paths that differ from their moment
// after the run. Both are durable before their line is in the log, and the program starts behind that line.
//
// The store of a repository is a folder of the user's state, in the layout of a git directory without refs.
// It is in no copy of the repository, and jp never sends it.
package backup
