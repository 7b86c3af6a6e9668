package odb

// RootFS is the file system of the platforms other than Linux.
func RootFS() FS { return rootFS{} }
