package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A picture is the view of git and of the file system on a stage.
type picture struct {
	refs  map[string]string // their objects
	files map[string]string // the content of owned files, named from the root
	own   map[string]bool   // those that are jp's own, without parts that differ from run to run
}

// jpOwn are jp's own files, git's objects and reftables, and a worktree that is being made. git reads
// the refs in reftables, and those of conversations.
var jpOwn = regexp.MustCompile(`^repo/\.git/(objects|jp|refs/jp|reftable|worktrees)/|^home/\.(local|cache)/|^(try|again)/|/\.(jp|new)-`)

// chance matches the parts of a file's name that differ between two runs.
var chance = regexp.MustCompile(`jp-c\d+-[a-z0-9]+|[0-9a-f]{8,}|objects/[0-9a-f]{2}\b|\d{3,}|(tmp_obj_|\.jp-|workspace/|\.new-)\w+`)

func (s *stage) picture() picture {
	s.t.Helper()
	p := picture{refs: map[string]string{}, files: map[string]string{}, own: map[string]bool{}}
	refs, err := s.tryGit("for-each-ref", "--format=%(refname) %(objectname)")
	s.must(err)
	for line := range strings.Lines(refs) {
		ref, oid, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.refs[ref] = oid
	}
	s.must(filepath.WalkDir(s.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, _ := filepath.Rel(s.root, path)
		if jpOwn.MatchString(name) {
			p.own[chance.ReplaceAllString(name, "$1*")] = true
			return nil
		}
		text, err := os.ReadFile(path)
		p.files[name] = string(text)
		return err
	}))
	return p
}

// left are the files that an errand leaves and an errand without a fault does not.
func (p picture) left(clean picture) (names []string) {
	for name := range p.own {
		if !clean.own[name] {
			names = append(names, name)
		}
	}
	for name := range p.files {
		if _, known := clean.files[name]; !known {
			names = append(names, chance.ReplaceAllString(name, "$1*"))
		}
	}
	return names
}
