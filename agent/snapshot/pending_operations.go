package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jp/internal/lazy"
	"jp/internal/safefile"
)

// An operationFile is a file of a rebase, an am, a sequence of picks or a merge that git has still to
// finish. Git shortens the list of steps and leaves most other files alone, until it
// removes all of them. A new line is somebody else's. If the operation itself is new, only
// lines that start programs count: the steps of a rebase are commits.
type operationFile struct {
	operation string // its folder, or its own name
	progress  string // changes when git works on the operation
	lines     []string
	renewed   []string               // lines that git writes when it works on the operation, and leaves alone otherwise
	starts    func(line string) bool // reports whether a line starts a program; nil: all are harmless
}

// operations are the folders of such operations, with the files that have their steps.
var operations = []struct {
	folder string
	files  func() *regexp.Regexp
}{
	{"rebase-merge", lazy.Regexp(`^(git-rebase-todo|author-script|strategy|strategy_opts|gpg_sign_opt|head-name|onto|orig-head|autostash|update-refs)$`)},
	{"rebase-apply", lazy.Regexp(`^(apply-opt|author-script|gpg_sign_opt|head-name|onto|orig-head|autostash|[0-9]+)$`)},
	{"sequencer", lazy.Regexp(`^(todo|opts)$`)},
}

// pending adds the operations of one working tree, whose git directory this is.
func (o gitControlFiles) pending(name, gitDir, suffix string) {
	read := func(file string) string {
		text, _ := safefile.ReadRegular(filepath.Join(gitDir, file))
		return string(text)
	}
	add := func(file, operation, progress string) {
		if text, err := safefile.ReadRegular(filepath.Join(gitDir, file)); err == nil && len(o) < mostObeyed {
			f := operationFileOf(filepath.Base(file), string(text))
			f.operation, f.progress = name+operation+suffix, progress
			o[name+file+suffix] = controlFile{state: strings.Join(f.starting(nil), "\n"), operation: f}
		}
	}
	for _, operation := range operations {
		entries, _ := os.ReadDir(filepath.Join(gitDir, operation.folder))
		if len(entries) == 0 {
			continue
		}
		in := operation.folder + "/"
		progress := read(in+"git-rebase-todo") + "\x00" + read(in+"done") + "\x00" + read(in+"next")
		for _, entry := range entries {
			if operation.files().MatchString(entry.Name()) {
				add(in+entry.Name(), operation.folder, progress)
			}
		}
	}
	if heads := headsOf(gitDir); heads != "" { // `git cherry-pick -n` writes a message alone
		add("MERGE_MSG", "MERGE_MSG", heads)
	}
	add("SQUASH_MSG", "SQUASH_MSG", strings.Join(squashedCommit().FindAllString(read("SQUASH_MSG"), -1), ""))
}

// headsOf identifies the files that git writes together with the message of a commit that it has still to make.
func headsOf(gitDir string) (heads string) {
	for _, head := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"} {
		var stat unix.Stat_t
		if unix.Lstat(filepath.Join(gitDir, head), &stat) == nil {
			heads += fmt.Sprint(head, stat.Ino, stat.Ctim)
		}
	}
	return heads
}

// squashedCommit is a line of `git merge --squash`. The same commits make the same message.
var squashedCommit = lazy.Regexp(`(?m)^commit [0-9a-f]{40,64}\n`)

// operationFileOf is the parsed text of a file of this name.
func operationFileOf(name, text string) *operationFile {
	f := &operationFile{lines: linesOf(text), starts: starters[name]}
	switch name {
	case "author-script": // git writes it anew for each commit
		f.renewed = slices.DeleteFunc(slices.Clone(f.lines), func(line string) bool { return !authorLine().MatchString(line) })
		f.lines = slices.DeleteFunc(f.lines, authorLine().MatchString)
	case "update-refs": // a branch, its commit, and the one that git gives it at the end
		f.renewed, f.lines = f.lines, nil
		for refs := range slices.Chunk(f.renewed, 3) {
			f.lines = append(f.lines, strings.Join(refs[:min(len(refs), 2)], " "))
		}
	case "SQUASH_MSG":
		if squashedCommit().MatchString(text) {
			f.renewed, f.lines = f.lines, nil
		}
	case "MERGE_MSG":
		f.renewed, f.lines = f.lines, nil
	}
	return f
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
var authorLine = lazy.Regexp(`^GIT_AUTHOR_(?:NAME|EMAIL|DATE)='(?:[^']|'\\['!]')*'$`)

// starters tell of each file which of its lines start a program.
var starters = map[string]func(line string) bool{
	"author-script":   func(string) bool { return true },
	"SQUASH_MSG":      func(string) bool { return true }, // git's own text has no lines here
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

// foreign reports whether the file has changes that git's own work on the operation does not explain. known
// is the progress of the operation before, nil without one, and before is the file then.
func (f *operationFile) foreign(before *operationFile, known *string) bool {
	switch {
	case known == nil:
		return len(f.starting(nil)) > 0
	case before == nil && len(f.renewed) == 0:
		return true
	case before == nil:
		before = &operationFile{}
	}
	return f.progress == *known && !slices.Equal(f.renewed, before.renewed) ||
		slices.ContainsFunc(f.lines, func(line string) bool { return !slices.Contains(before.lines, line) })
}
