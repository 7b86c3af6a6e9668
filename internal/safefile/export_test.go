package safefile

import "io/fs"

// ReplaceKeeping is ReplaceIn for a file that had this mode and keeps it.
func ReplaceKeeping(f Folder, name string, data []byte, mode fs.FileMode, o Options) error {
	return o.put(f, name, of(data), &mode, Folder.Rename)
}

// MakeFoldersFlushed is makeFolders, and says which folders it has flushed.
func MakeFoldersFlushed(dir string, o Options) (flushed []string, err error) {
	err = makeFolders(dir, o, func(f osFolder) error {
		flushed = append(flushed, string(f))
		return f.Sync()
	})
	return flushed, err
}
