package odb

import (
	"os"
	"path/filepath"
	"strings"
)

// maxAlternates bounds the chain of borrowed object directories, as git does.
const maxAlternates = 5

// objectDirs gives an object directory and those that it borrows from, nearest
// first and each once.
func objectDirs(dir string) []string {
	dirs := []string{dir}
	seen := map[string]bool{dir: true}
	next := dirs
	for range maxAlternates {
		var borrowed []string
		for _, from := range next {
			for _, d := range alternatesOf(from) {
				if !seen[d] {
					seen[d] = true
					borrowed = append(borrowed, d)
				}
			}
		}
		dirs, next = append(dirs, borrowed...), borrowed
	}
	return dirs
}

// alternatesOf gives the object directories that one names itself.
func alternatesOf(dir string) []string {
	list, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(list)) {
		next := strings.TrimSpace(line)
		if next == "" || next[0] == '#' {
			continue
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		out = append(out, filepath.Clean(next))
	}
	return out
}
