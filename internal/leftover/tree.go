package leftover

import (
	"context"
	"io/fs"
	"path/filepath"
	"regexp"
	"sync"
)

// workName are the names under which jp writes files beside those that they are
// to become.
var workName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.jp-([A-Z2-7]{26}|restore-restore-[0-9]+|mark-[0-9]+)$`)
})

// workFiles looks through the working tree, and reports whether ctx let it come to
// the end.
func (f *finding) workFiles(ctx context.Context) (whole bool) {
	if f.TopLevel == "" {
		return true
	}
	err := filepath.WalkDir(f.TopLevel, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir // jp could not write there either
		case err != nil:
			return nil
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.IsDir() && workName().MatchString(d.Name()):
			f.add(WorkFile, path, Suspect)
		}
		return nil
	})
	return err == nil && ctx.Err() == nil
}
