package odb

// RootFS is the file system of the platforms other than Linux.
func RootFS() FS { return rootFS{} }

// Deflate is the content of an object's loose file.
func Deflate(o Object) []byte { return deflate(nil, o) }

// OneByOne lets a Store do one operation after another, also if it would flush several files at once.
func (s *Store) OneByOne() { s.oneByOne = true }
