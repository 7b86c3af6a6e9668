package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jp/instructions"
)

// File is the name of the file that makes a folder a skill.
const File = "SKILL.md"

// Bounds of the catalogue, and of one skill.
const (
	maxEntries = 64
	maxEntry   = 256     // characters of a description
	maxFile    = 1 << 20 // bytes of one file that a model is given
	maxListed  = 50      // files of a skill that its text names
	maxFolders = 1000    // looked at in one place
)

// A Place is a folder of skills.
type Place struct {
	Dir   instructions.Dir
	Path  string // of the folder, from Dir
	Shown string // name of the folder for people
	User  bool   // the user's own
}

// A Skill is one that was found.
type Skill struct {
	Name        string   `json:"name"` // by which it is used
	Description string   `json:"description"`
	Path        string   `json:"path"`
	User        bool     `json:"user"`
	Warnings    []string `json:"warnings"`
	Unusable    string   `json:"unusable,omitempty"` // reason why it cannot be used
	OID         string   `json:"-"`                  // blob id of its SKILL.md
	At          string   `json:"-"`                  // of SKILL.md, from the root of its place
	Real        string   `json:"-"`                  // target of the links on the way

	body   string
	dir    instructions.Dir
	folder string // without links
}

// Find looks into the places, in order of precedence. Of skills of one name in the same scope the first counts. A
// repository's skill whose name is the user's, or taken by jp, is called project:NAME.
func Find(places []Place, taken []string) []Skill {
	var all []Skill
	for _, user := range []bool{true, false} {
		had := map[string]bool{}
		for _, p := range places {
			if p.User != user {
				continue
			}
			for _, name := range p.folders() {
				if had[name] {
					continue
				}
				s, ok := p.read(name)
				if !ok {
					continue
				}
				had[name] = true
				if !user && (slices.Contains(taken, name) || slices.ContainsFunc(all, func(s Skill) bool { return s.User && s.Name == name })) {
					s.Name = "project:" + name
				}
				all = append(all, s)
			}
		}
	}
	for i, n := 0, 0; i < len(all); i++ {
		if all[i].Unusable == "" {
			if n++; n > maxEntries {
				all[i].Unusable = fmt.Sprintf("it is beyond the first %d", maxEntries)
			}
		}
	}
	return all
}

// folders are the names in a place, sorted.
func (p Place) folders() (names []string) {
	real, mode, err := instructions.Resolve(p.Dir, p.Path)
	if err != nil || !mode.IsDir() {
		return nil
	}
	f, err := p.Dir.Root.Open(filepath.FromSlash(real))
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ = f.Readdirnames(maxFolders)
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
}

// read reads one skill. It is false for a folder without SKILL.md.
func (p Place) read(name string) (Skill, bool) {
	at := path.Join(p.Path, name, File)
	s := Skill{Name: name, Path: path.Join(p.Shown, name), User: p.User, Warnings: []string{}, At: at, dir: p.Dir}
	folder, mode, err := instructions.Resolve(p.Dir, path.Dir(at))
	if err == nil && !mode.IsDir() {
		return s, false
	}
	if err == nil {
		s.folder = folder
		s.Real, _, err = s.resolve(File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s, false
	}
	var c instructions.Content
	if err == nil {
		c, err = p.Dir.Read(s.Real)
	}
	switch {
	case err != nil:
		s.Unusable = reason(err)
		return s, true
	case len(c.Data) > maxFile:
		s.Unusable = "its SKILL.md is larger than 1 MiB"
		return s, true
	}
	text, err := instructions.Decode(c.Data)
	if err != nil {
		s.Unusable = err.Error()
		return s, true
	}
	m := parse(name, text)
	s.Description, s.Warnings, s.OID, s.body = m.description, append(s.Warnings, m.warnings...), c.OID, m.body
	switch {
	case len(name) > 2*maxName || instructions.Clean(name) != name || strings.ContainsAny(name, "\n\r\t:\x1b"):
		s.Unusable = "its folder's name cannot be used"
	case s.Description == "":
		s.Unusable = "it has no description"
	}
	return s, true
}

var errOutside = errors.New("its link leads out of the skill's folder")

// resolve follows the links of a file within the folder of its skill.
func (s Skill) resolve(file string) (real string, mode fs.FileMode, err error) {
	real, mode, err = instructions.Resolve(s.dir, path.Join(s.folder, file))
	if err == nil && real != s.folder && !strings.HasPrefix(real, s.folder+"/") {
		err = errOutside
	}
	return real, mode, err
}

func reason(err error) string {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return err.Error()
}

// Entry is the line of the catalogue.
func (s Skill) Entry() string {
	return fmt.Sprintf("%s: %s\n", s.Name, bounded(s.Description, maxEntry))
}

// Body is the text of the skill, behind its front matter, and the names of its other files.
func (s Skill) Body() string {
	var b strings.Builder
	whose := "this repository"
	if s.User {
		whose = "the user"
	}
	fmt.Fprintf(&b, "[skill %s of %s, in %s]\n", s.Name, whose, s.Path)
	if files, more := s.files(); len(files) > 0 {
		fmt.Fprintf(&b, "[its files, read with the argument file: %s%s]\n", strings.Join(files, ", "), more)
	}
	return b.String() + strings.TrimLeft(s.body, "\n")
}

// files are those besides SKILL.md.
func (s Skill) files() (names []string, more string) {
	root, err := s.dir.Root.OpenRoot(filepath.FromSlash(s.folder))
	if err != nil {
		return nil, ""
	}
	defer root.Close()
	seen := 0
	_ = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > maxFolders {
			more = ", …"
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil
		case p != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && p != File:
			if len(names) == maxListed {
				more = ", …"
				return fs.SkipAll
			}
			names = append(names, fmt.Sprintf("%q", p))
		}
		return nil
	})
	return names, more
}

// Read is one of the skill's files as a model is given it.
func (s Skill) Read(file string) (string, error) {
	if !filepath.IsLocal(file) {
		return "", fmt.Errorf("%q is not a path in the skill's folder", file)
	}
	real, mode, err := s.resolve(path.Clean(filepath.ToSlash(file)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the skill has no file %q", file)
	case err != nil:
		return "", fmt.Errorf("%q: %s", file, reason(err))
	case !mode.IsRegular():
		return "", fmt.Errorf("%q is no file", file)
	}
	c, err := s.dir.Read(real)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q: %s", file, reason(err))
	case len(c.Data) > maxFile:
		return "", fmt.Errorf("%q is larger than 1 MiB", file)
	}
	text, err := instructions.Decode(c.Data)
	if err != nil {
		return "", fmt.Errorf("%q: %w", file, err)
	}
	return text, nil
}
