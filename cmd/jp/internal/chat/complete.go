package chat

import (
	"os"
	"path/filepath"
	"strings"

	"jp/cmd/jp/internal/console"
	"jp/internal/safetext"
)

// mostCandidates is how many candidates are shown.
const mostCandidates = 6

// Complete implements [console.Handler].
func (c *chat) Complete(e console.Entry, at int) (from int, word string, ok bool) {
	from, all := candidates(c.available(), c.env.Dir, e, at)
	if len(all) == 0 {
		return 0, "", false
	}
	word = all[0]
	for _, other := range all[1:] {
		for !strings.HasPrefix(other, word) {
			word = word[:len(word)-1]
		}
	}
	if len(all) == 1 && !strings.HasSuffix(word, "/") {
		word += " "
	}
	return from, word, word != e.Text[from:at]
}

// suggest shows what Tab would complete.
func (c *chat) suggest(text string) {
	_, all := candidates(c.available(), c.env.Dir, console.Entry{Text: text, Pasted: func(int) bool { return false }}, len(text))
	lines := make([]string, 0, mostCandidates)
	for _, word := range all {
		if len(lines) == mostCandidates {
			lines[mostCandidates-1] = "  …"
			break
		}
		line := "  " + safetext.Clean(word)
		for _, o := range commands() {
			if word == "/"+o.name {
				line += strings.Repeat(" ", max(1, 12-len(word))) + o.help
			}
		}
		lines = append(lines, c.dim(line))
	}
	c.console.Below(lines...)
}

// candidates are what the word at the cursor may become: a command, or a file behind @.
func candidates(available []command, dir string, e console.Entry, at int) (from int, all []string) {
	begun := e.Text[:at]
	if slash.MatchString(begun) && !e.Pasted(0) {
		for _, o := range available {
			if name := "/" + o.name; strings.HasPrefix(name, begun) {
				all = append(all, name)
			}
		}
		return 0, all
	}
	from = strings.LastIndexAny(begun, " \n\t(") + 1
	path, is := strings.CutPrefix(begun[from:], "@")
	if !is || e.Pasted(from) {
		return 0, nil
	}
	folder, name := filepath.Split(path)
	read := folder
	if !filepath.IsAbs(folder) {
		read = filepath.Join(dir, folder)
	}
	entries, err := os.ReadDir(read)
	if err != nil {
		return 0, nil
	}
	for _, entry := range entries {
		n := entry.Name()
		if !strings.HasPrefix(n, name) || n == ".git" || strings.HasPrefix(n, ".") && !strings.HasPrefix(name, ".") || strings.ContainsAny(n, " \t\n") {
			continue
		}
		word := "@" + folder + n
		if info, err := os.Stat(filepath.Join(read, n)); err == nil && info.IsDir() {
			word += "/"
		}
		all = append(all, word)
	}
	return from, all
}
