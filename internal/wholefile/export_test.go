package wholefile

import "io/fs"

// ReplaceKeeping is ReplaceIn for a file that had this mode and keeps it.
func ReplaceKeeping(f Folder, name string, data []byte, mode fs.FileMode, o Options) error {
	return o.put(f, name, data, &mode, Folder.Rename)
}
