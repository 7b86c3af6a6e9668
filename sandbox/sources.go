package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Sources is a folder of the user with downloads that later builds compile and run. Their checksums are
// verified only as they arrive, so programs may only read it. Programs' own downloads go to a folder of
// jp's own for this working tree.
type Sources struct {
	Folder    string   // the user's
	Own       string   // jp's, in its cache folder
	Variables []string // lead programs to Own
	shared    fileSet  // files that Own may have as links
	downloads fileSet  // files that stand for one download each
}

// A fileSet is the files below some places with names that end so, down to a depth.
type fileSet struct {
	below, ends []string
	depth       int
}

// Sources are those of Go and Cargo, without those that the user lets programs write to.
func (p Places) Sources() (all []Sources) {
	cache := p.ToolCache()
	if cache == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(p.Workspace))
	own := path.Join("sources", hex.EncodeToString(sum[:8]))
	modules, cargo := p.variable("GOMODCACHE"), p.variable("CARGO_HOME")
	if packages := append(filepath.SplitList(p.variable("GOPATH")), p.home("go")); !path.IsAbs(modules) {
		modules = path.Join(packages[0], "pkg/mod")
	}
	if !path.IsAbs(cargo) {
		cargo = p.home(".cargo")
	}
	goPath, cargoHome := path.Join(cache, own, "go"), path.Join(cache, own, "cargo")
	for _, s := range []Sources{
		{
			Folder: modules, Own: path.Join(own, "go/pkg/mod"), Variables: []string{"GOPATH=" + goPath, "GOMODCACHE=" + goPath + "/pkg/mod"},
			shared:    fileSet{[]string{"cache/download"}, []string{".info", ".mod", ".zip", ".ziphash"}, 64},
			downloads: fileSet{[]string{"cache/download"}, []string{".ziphash"}, 64},
		},
		{
			Folder: cargo, Own: path.Join(own, "cargo"), Variables: []string{"CARGO_HOME=" + cargoHome},
			shared:    fileSet{[]string{"config.toml", "credentials.toml", "registry/cache"}, []string{".toml", ".crate"}, 4},
			downloads: fileSet{[]string{"registry/cache", "git/checkouts"}, []string{".crate", "/.cargo-ok"}, 5},
		},
	} {
		opened := func(name string) bool {
			return within(s.Folder, p.absolute(name)) || within(p.absolute(name), s.Folder)
		}
		if path.IsAbs(s.Folder) && !slices.ContainsFunc(p.Caches, opened) && !slices.ContainsFunc(p.Write, opened) {
			all = append(all, s)
		}
	}
	return all
}

// Links are the user's downloads that are missing from jp's folder, by their names in either.
func (s Sources) Links(user, own fs.FS) []string {
	return s.shared.missing(user, own, func(fs.DirEntry) bool { return true })
}

// Needed reports whether programs have downloaded files that the user lacks.
func (s Sources) Needed(user, own fs.FS) bool {
	return len(s.downloads.missing(own, user, func(e fs.DirEntry) bool { return e.Type().IsRegular() })) > 0
}

// missing are files of one folder that the other lacks. An unreadable one is missing in the program.
func (f fileSet) missing(from, to fs.FS, counts func(fs.DirEntry) bool) (names []string) {
	for _, place := range f.below {
		_ = fs.WalkDir(from, place, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case e.IsDir() && strings.Count(name, "/") >= f.depth-1:
				return fs.SkipDir
			case e.IsDir(), !counts(e), !slices.ContainsFunc(f.ends, func(end string) bool { return strings.HasSuffix(name, end) }):
				return nil
			}
			if _, err := fs.Lstat(to, name); err != nil {
				names = append(names, name)
			}
			return nil
		})
	}
	return names
}
