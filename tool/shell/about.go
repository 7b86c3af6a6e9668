package shell

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"jp/conversation"
	"jp/internal/lazy"
	"jp/tool"
)

// mostWords bounds the words of a call that may be names of files.
const mostWords = 2000

// about are the files and folders that a call names: existing paths, and matches of patterns, among the words
// of its arguments and scripts, from the folder of the call and from named folders.
func (r *run) about(raw json.RawMessage, _ conversation.ID) []tool.NamedFile {
	var args arguments
	if json.Unmarshal(raw, &args) != nil || len(args.Argv) == 0 {
		return nil
	}
	dir, err := r.folder(args.Cwd)
	if err != nil {
		return nil // and the call will be refused
	}
	var names []string
	for _, text := range append(slices.Clone(args.Argv), args.Stdin) {
		names = append(names, words(text)...)
	}
	names = names[:min(len(names), mostWords)]
	for i, name := range names {
		if r.opts.Home != "" && (name == "~" || strings.HasPrefix(name, "~/")) {
			names[i] = filepath.Join(r.opts.Home, name[1:])
		}
	}
	bases := []string{dir}
	for _, name := range names {
		path := in(dir, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() && r.inside(path) && !slices.Contains(bases, path) && len(bases) < 8 {
			bases = append(bases, path)
		}
	}
	found := map[string]bool{}
	for _, base := range bases {
		for _, name := range names {
			for _, path := range matches(base, name) {
				if found[path] || len(found) > mostMatches || !r.counts(path) {
					continue
				}
				found[path] = true
				if real, err := filepath.EvalSymlinks(path); err == nil {
					found[real] = true // a link may lead to another file by then
				}
			}
		}
	}
	var files []tool.NamedFile
	for path := range found {
		if rel, err := filepath.Rel(r.root, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		files = append(files, tool.NamedFile{Path: path})
	}
	slices.SortFunc(files, func(a, b tool.NamedFile) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// mostMatches bounds the matches of patterns. It exceeds the length of the list for a yes, so that one more
// counts.
const mostMatches = 20_000

// matches are the paths that a name may mean in a folder: it can be a pattern of a shell.
func matches(dir, name string) []string {
	path := in(dir, name)
	if !strings.ContainsAny(name, "*?[") {
		return []string{path}
	}
	if before, _, deep := strings.Cut(name, "**"); deep { // it enters folders
		return []string{path, in(dir, before[:strings.LastIndex(before, "/")+1])}
	}
	pattern := name
	if !filepath.IsAbs(name) {
		pattern = filepath.Join(meta().ReplaceAllString(dir, `\\$0`), name)
	}
	found, _ := filepath.Glob(pattern) // text without a pattern has no matches
	return append(found, path)
}

var meta = lazy.Regexp(`[*?\[\\]`)

// counts reports whether a path is a file or folder to whose state a yes is bound. Excluded are logs, folders
// of temporary files and the kernel's files, since they change all the time, and the directory of the
// repository itself, since jp writes it.
func (r *run) counts(path string) bool {
	info, err := os.Stat(path)
	device := strings.HasPrefix(path, "/dev/") && !strings.HasPrefix(path, "/dev/shm/") // that has files of the user's
	switch {
	case err != nil, strings.HasPrefix(path, "/proc/"), strings.HasPrefix(path, "/sys/"), device:
		return false
	case info.IsDir():
		git := filepath.Join(r.root, ".git")
		return path != git && !strings.HasPrefix(path, git+"/") && !slices.Contains(changing, path) && path != filepath.Clean(os.TempDir())
	case !info.Mode().IsRegular():
		return false
	}
	return !strings.HasSuffix(path, ".log") || info.Mode().Perm()&0o111 != 0 || startsAsScript(path)
}

// changing are folders in which any program may write at any time.
var changing = []string{"/tmp", "/var/tmp", "/proc", "/sys", "/dev", "/run", "/var/run"}

func (r *run) inside(path string) bool {
	rel, err := filepath.Rel(r.root, path)
	return err == nil && filepath.IsLocal(rel)
}

func startsAsScript(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// in is a name as it is meant in a folder.
func in(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

var (
	quotes  = lazy.Regexp(`'[^']+'|"[^"]+"`)
	escapes = lazy.Regexp(`[^\s\\;|&<>()'"]*(\\.[^\s\\;|&<>()'"]*)+`)
	escape  = lazy.Regexp(`\\(.)`)
)

// words are the possible names in a text: all of it, its quoted parts, and its parts between characters that
// separate words for a shell or in an option.
func words(text string) (names []string) {
	names = append(names, text)
	for _, quoted := range quotes().FindAllString(text, mostWords) {
		names = append(names, quoted[1:len(quoted)-1])
	}
	for _, escaped := range escapes().FindAllString(text, mostWords) { // my\ file
		names = append(names, escape().ReplaceAllString(escaped, "$1"))
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n=:,;|&<>(){}'\"`$@", r) }) {
		names = append(names, word)
		if strings.HasPrefix(word, "-") && len(word) > 2 { // -fMakefile
			names = append(names, word[2:])
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" || strings.ContainsRune(name, 0) || len(name) > 4096 })
}
