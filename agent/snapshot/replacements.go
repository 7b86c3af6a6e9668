package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"jp/internal/safefile"
)

// replaceRefs is the folder of the refs by which git shows one object in place of another.
const replaceRefs = "refs/replace/"

// replacements adds the refs by which git shows other objects than the named ones, in all their places.
func (f *Files) replacements(ctx context.Context, o gitControlFiles) {
	found := map[string]string{}
	if _, err := os.Lstat(filepath.Join(f.git.CommonDir, "reftable", "tables.list")); err == nil {
		out, _ := f.run.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", replaceRefs)
		replacementsIn(found, bytes.NewReader(out))
	} else {
		packedReplacements(found, filepath.Join(f.git.CommonDir, "packed-refs"))
		root := filepath.Join(f.git.CommonDir, filepath.FromSlash(replaceRefs))
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error { // git finds no refs in an unreadable folder either
			if err == nil && !entry.IsDir() && len(found) < mostObeyed {
				text, _ := safefile.ReadRegular(path)
				rel, _ := filepath.Rel(root, path)
				found[replaceRefs+filepath.ToSlash(rel)] = strings.TrimSpace(string(text))
			}
			return nil
		})
	}
	for name, object := range found {
		if len(o) < mostObeyed {
			o[name] = controlFile{state: object}
		}
	}
}

// packedReplacements reads them from the list of packed refs.
func packedReplacements(found map[string]string, path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be another one by now
	if err != nil {
		return
	}
	defer file.Close()
	replacementsIn(found, file)
}

func replacementsIn(found map[string]string, list io.Reader) {
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if object, name, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(name, replaceRefs) && len(found) < mostObeyed {
			found[name] = object
		}
	}
}
