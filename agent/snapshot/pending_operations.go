package snapshot

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"jp/internal/safefile"
)

// An operationFile is a file of a rebase, an am or a sequence of picks that git has still to
// finish. Git shortens the list of steps and leaves the other files alone, until it
// removes all of them. A new line is somebody else's. If the operation itself is new, only
// lines that start programs count: the steps of a rebase are commits.
type operationFile struct {
	lines  []string
	starts func(line string) bool // tells whether a line starts a program; nil: none does
}

// operations are the folders of such operations, with the files that say what git does.
var operations = []struct {
	folder string
	files  *regexp.Regexp
}{
	{"rebase-merge", regexp.MustCompile(`^(git-rebase-todo|author-script|strategy|strategy_opts|gpg_sign_opt|head-name|onto|orig-head|autostash)$`)},
	{"rebase-apply", regexp.MustCompile(`^(apply-opt|author-script|gpg_sign_opt|head-name|onto|orig-head|autostash|[0-9]+)$`)},
	{"sequencer", regexp.MustCompile(`^(todo|opts)$`)},
}

// pending adds the operations of one working tree, whose git directory this is.
func (o gitControlFiles) pending(name, gitDir, suffix string) {
	for _, operation := range operations {
		entries, _ := os.ReadDir(filepath.Join(gitDir, operation.folder))
		for _, entry := range entries {
			text, err := safefile.ReadRegular(filepath.Join(gitDir, operation.folder, entry.Name()))
			if err != nil || len(o) >= mostObeyed || !operation.files.MatchString(entry.Name()) {
				continue
			}
			file := &operationFile{lines: linesOf(string(text)), starts: starters[entry.Name()]}
			if entry.Name() == "author-script" { // git writes it anew for each commit
				if file.lines = slices.DeleteFunc(file.lines, authorLine.MatchString); len(file.lines) == 0 {
					continue
				}
			}
			o[name+operation.folder+"/"+entry.Name()+suffix] = controlFile{state: strings.Join(file.starting(nil), "\n"), operation: file}
		}
	}
}

// linesOf are the lines of a file without blank ones and comments.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// authorLine is a line of the author of a commit, as git quotes it. A shell ran other ones in older versions of git.
var authorLine = regexp.MustCompile(`^GIT_AUTHOR_(?:NAME|EMAIL|DATE)='(?:[^']|'\\['!]')*'$`)

// starters tell of each file which of its lines start a program.
var starters = map[string]func(line string) bool{
	"author-script":   func(string) bool { return true },
	"git-rebase-todo": startsCommand, "todo": startsCommand, "strategy": startsStrategy,
	"opts": func(line string) bool {
		key, value, ok := strings.Cut(line, "=")
		return ok && strings.EqualFold(strings.TrimSpace(key), "strategy") && startsStrategy(strings.Trim(strings.TrimSpace(value), `"`))
	},
}

func startsCommand(line string) bool {
	word := strings.Fields(line)[0]
	return word == "exec" || word == "x"
}

// startsStrategy reports whether git runs a program git-merge-NAME for a strategy.
func startsStrategy(name string) bool {
	return !slices.Contains([]string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}, name)
}

// starting are the lines that start programs, without those of before.
func (f *operationFile) starting(before []string) (lines []string) {
	for _, line := range f.lines {
		if f.starts != nil && f.starts(line) && !slices.Contains(before, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// foreign reports whether git's own work on the operation does not explain the file. known is
// whether the operation was there before, and before is the file then, nil without one.
func (f *operationFile) foreign(before *operationFile, known bool) bool {
	switch {
	case !known:
		return len(f.starting(nil)) > 0
	case before == nil:
		return true
	}
	return slices.ContainsFunc(f.lines, func(line string) bool { return !slices.Contains(before.lines, line) })
}
