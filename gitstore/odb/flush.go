package odb

// flushes are the waits of one write path, in the order in which a Write asks for them. All are needed: if
// any one is missing, a power cut leaves a ref without its object, or no ref at all.
type flushes struct {
	// begin is called for a file that is fully written.
	begin func(File) error
	// sync is called for a file before it gets its name.
	sync func(File) error
	// entry is called for a directory after it has got a name.
	entry func(Dir) error
	// commit is called once, for the directory of the last name.
	commit func(Dir) error
	// existing is called for a file that another process has written.
	existing func(File) error
	// parallel says that settle is worth doing for several files at once.
	parallel bool
}

func (s *Store) flushes() flushes {
	switch {
	case s.opts.Durability == Off:
		return flushes{begin: noFile, sync: noFile, entry: noDir, commit: noDir, existing: noFile}
	case s.path == PathOrdered:
		return flushes{
			begin: File.StartWriteout, sync: File.AwaitWriteout,
			entry: noDir, commit: Dir.Sync, existing: File.Sync,
		}
	}
	return flushes{
		begin: noFile, sync: File.Sync,
		entry: Dir.Sync, commit: noDir, existing: File.Sync,
		parallel: true,
	}
}

func noFile(File) error { return nil }
func noDir(Dir) error   { return nil }
