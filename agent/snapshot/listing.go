package snapshot

import (
	"os"
	"path"
	"path/filepath"

	"jp/tool"
	"jp/worktree"
)

// Listing returns the files below a folder with their states, for an approval of them, and the folder itself
// first. For other paths it returns nil. ok is false if there are more than most. It skips the git
// directories of the repository, since jp writes there.
func (f *Files) Listing() func(folder string, most int) (files []tool.NamedFile, ok bool) {
	if f.Root == nil || len(f.Key) == 0 {
		return nil
	}
	skip := []string{f.git.GitDir, f.git.CommonDir}
	return func(folder string, most int) (files []tool.NamedFile, ok bool) {
		at := folder
		if !filepath.IsAbs(at) {
			at = filepath.Join(f.git.TopLevel, filepath.FromSlash(folder))
		}
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			return nil, true
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return nil, true
		}
		listed, ok := worktree.FilesBelow(real, skip, most)
		files = []tool.NamedFile{{Path: folder, State: "folder"}}
		for _, l := range listed {
			files = append(files, tool.NamedFile{Path: path.Join(folder, l.Path), State: l.State})
		}
		return files, ok
	}
}
