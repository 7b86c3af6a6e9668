package snapshot

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/internal/safefile"
)

// Bounds of the look before and after each tool.
const (
	mostObeyed   = 2000 // files
	mostModules  = 200  // submodules and linked worktrees, each
	mostIncludes = 50
)

// repository adds the files that git obeys in one git directory, which is common with
// another one in a linked worktree. name is that of the directory.
func (o gitControlFiles) repository(home, name, gitDir, commonDir, topLevel string) {
	if text, err := safefile.ReadRegular(filepath.Join(gitDir, "commondir")); gitDir == commonDir || err != nil || named(home, gitDir, strings.TrimSpace(string(text))) != commonDir {
		o.add(name+"commondir", filepath.Join(gitDir, "commondir"))
	}
	o.config(home, name, "config", commonDir, topLevel)
	o.config(home, name, "config.worktree", gitDir, topLevel)
	for _, folder := range []string{"hooks", "info"} {
		o.folder(name+folder, filepath.Join(commonDir, folder))
	}
	for _, file := range []string{"alternates", "http-alternates"} {
		o.add(name+"objects/info/"+file, filepath.Join(commonDir, "objects", "info", file))
	}
	o.pending(name, gitDir, "")
	if gitDir != commonDir {
		o.pending(name, commonDir, " of the main worktree")
		o.add(name+"config.worktree of the main worktree", filepath.Join(commonDir, "config.worktree"))
		o.add(name+"info/sparse-checkout", filepath.Join(gitDir, "info", "sparse-checkout"))
	}
}

func (o gitControlFiles) folder(name, dir string) {
	o.add(name, dir)
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if file := name + "/" + entry.Name(); !strings.HasSuffix(file, "info/refs") { // a list that git gc makes
			o.add(file, filepath.Join(dir, entry.Name()))
		}
	}
}

// config adds a configuration file, the files in the repository that it includes, and the
// hooks folder below the git directory that it names.
func (o gitControlFiles) config(home, name, file, dir, topLevel string) {
	o.add(name+file, filepath.Join(dir, file))
	queue, seen := []string{filepath.Join(dir, file)}, map[string]bool{}
	for len(queue) > 0 && len(seen) < mostIncludes {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		text, err := safefile.ReadRegular(at)
		if err != nil {
			continue
		}
		for _, setting := range pathsIn(text) {
			switch base := filepath.Dir(at); setting.key {
			case "include":
				to := named(home, base, setting.value)
				if below(dir, to) || topLevel != "" && below(topLevel, to) {
					o.add(shown(name, dir, topLevel, to), to)
					queue = append(queue, to)
				}
			case "hookspath":
				if to := named(home, topLevel, setting.value); topLevel != "" && below(dir, to) {
					o.folder(shown(name, dir, topLevel, to), to)
				}
			case "worktree": // of a submodule
				to := filepath.Join(named(home, dir, setting.value), ".git")
				o.add(shown(name, dir, topLevel, to), to)
			}
		}
	}
}

// linked adds the files that git obeys in the other worktrees of the repository, except those that adding a
// worktree writes.
func (o gitControlFiles) linked(home, commonDir string) {
	entries, _ := os.ReadDir(filepath.Join(commonDir, "worktrees"))
	for _, entry := range entries[:min(len(entries), mostModules)] {
		name, dir := "worktrees/"+entry.Name()+"/", filepath.Join(commonDir, "worktrees", entry.Name())
		o.add(name+"config.worktree", filepath.Join(dir, "config.worktree"))
		o.pending(name, dir, "")
		if text, err := safefile.ReadRegular(filepath.Join(dir, "commondir")); err != nil || strings.TrimSpace(string(text)) != "../.." {
			o.add(name+"commondir", filepath.Join(dir, "commondir"))
		}
		text, err := safefile.ReadRegular(filepath.Join(dir, "gitdir"))
		if err != nil {
			continue
		}
		file := named(home, dir, strings.TrimSpace(string(text)))
		if link, err := safefile.ReadRegular(file); err != nil || named(home, filepath.Dir(file), strings.TrimPrefix(strings.TrimSpace(string(link)), "gitdir: ")) != dir {
			o.add(name+"gitdir -> .git", file)
		}
	}
}

// modules adds the git directories of submodules, which may have slashes in their names
// and submodules of their own.
func (o gitControlFiles) modules(home, name, dir string, left *int) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if *left--; *left < 0 {
			return
		}
		name, at := name+entry.Name()+"/", filepath.Join(dir, entry.Name())
		if _, err := os.Lstat(filepath.Join(at, "HEAD")); err != nil {
			o.modules(home, name, at, left)
			continue
		}
		o.repository(home, name, at, at, "")
		o.modules(home, name+"modules/", filepath.Join(at, "modules"), left)
	}
}

// A pathSetting is a setting whose value is a path.
type pathSetting struct{ key, value string }

// pathsIn finds the settings of a configuration that name files which git obeys. It reads
// lines as git and people write them. A program that writes other lines changes a file that is watched.
func pathsIn(text []byte) (found []pathSetting) {
	section := ""
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if head, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(head, "[") {
			section, _, _ = strings.Cut(strings.ToLower(strings.TrimLeft(head, "[ \t")), " ")
			line = strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case !ok || value == "":
		case (section == "include" || strings.HasPrefix(section, "includeif")) && key == "path":
			found = append(found, pathSetting{"include", value})
		case section == "core" && slices.Contains([]string{"hookspath", "worktree"}, key):
			found = append(found, pathSetting{key, value})
		}
	}
	return found
}

// named is a path as a file in a folder names it.
func named(home, base, path string) string {
	if rest, is := strings.CutPrefix(path, "~/"); is && home != "" {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel) && rel != "."
}

// shown is the name of a file: in the git directory, in the working tree, or in full.
func shown(name, dir, topLevel, path string) string {
	if below(dir, path) {
		rel, _ := filepath.Rel(dir, path)
		return name + filepath.ToSlash(rel)
	}
	if topLevel != "" && below(topLevel, path) {
		rel, _ := filepath.Rel(topLevel, path)
		return inTopLevel + filepath.ToSlash(rel)
	}
	return inTopLevel + path
}

// inTopLevel begins the name of a file outside of the git directory.
const inTopLevel = "../"
