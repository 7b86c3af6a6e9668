// Package backup keeps copies of the files of a working tree that no tree of a conversation has: untracked files, and
// ignored files outside of ignored folders.
//
// A moment is what was there before a program ran: a list of paths, and one stored pack with the content that no earlier
// moment of the working tree has. Changes are what a program left otherwise than its moment. Both are durable before
// their line stands in the log, and the program starts behind that line.
//
// The store of a repository is a folder of the user's state, in the layout of a git directory without refs. It is in no
// copy of the repository, and nothing sends it.
package backup
