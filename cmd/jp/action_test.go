package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"jp/internal/action"
)

// advisedAction is the command of an action in jp's output, or "": one of the commands beside an
// error, or a part of a line.
func advisedAction(said string, kind action.Kind) string {
	hints := advised(said)
	for _, command := range hints {
		if commandOf(kind).FindString(command) == command && command != "" {
			return command
		}
	}
	for _, command := range hints {
		said = strings.Replace(said, command, "", 1)
	}
	var findings strings.Builder // doctor's advice is behind its arrow
	for line := range strings.Lines(said) {
		if _, advice, found := strings.Cut(line, " → "); found {
			findings.WriteString(advice)
		}
	}
	for _, text := range []string{findings.String(), said} {
		for _, at := range commandOf(kind).FindAllStringIndex(text, -1) {
			if command := text[at[0]:at[1]]; longest(text[at[0]:]) == command && (at[0] == 0 || strings.ContainsRune(" \n(`", rune(text[at[0]-1]))) {
				return command
			}
		}
	}
	return ""
}

// longest is the longest command of the list with which a text begins.
func longest(text string) (command string) {
	for kind, pattern := range action.Kinds() {
		if strings.HasSuffix(pattern, " {words…}") {
			continue // with any words: it would take the text behind a command, too
		}
		if at := commandOf(kind).FindStringIndex(text); at != nil && at[0] == 0 && at[1] > len(command) {
			command = text[:at[1]]
		}
	}
	return command
}

// commands are the patterns of commandOf.
var commands sync.Map

// commandOf matches the commands of an action.
func commandOf(kind action.Kind) *regexp.Regexp {
	if known, ok := commands.Load(kind); ok {
		return known.(*regexp.Regexp)
	}
	command := action.Kinds()[kind]
	pattern := regexp.QuoteMeta(command)
	for _, name := range action.Places(command) {
		const quoted, more = `'[^']*'|\\'|\$'[^']*'`, `[^\s'";,()]*[^\s'";,().:]`
		word := `(?:` + quoted + `|` + more + `)+`
		place := regexp.QuoteMeta("{" + name + "}")
		if strings.HasSuffix(name, "…") {
			pattern = strings.ReplaceAll(pattern, " "+place, `(?: `+word+`)*`)
			word += `(?: ` + word + `)*`
		} else { // an option is no such word
			first := `(?:` + quoted + `|[^-\s'";,().:]|[^-\s'";,()]` + more + `)(?:` + quoted + `|` + more + `)*`
			pattern = strings.ReplaceAll(pattern, " "+place, " "+first)
		}
		pattern = strings.ReplaceAll(pattern, place, word)
	}
	pattern = regexp.MustCompile(`^(jp|git) `).ReplaceAllString(pattern, `$1 (?:-C \S+ )?`)
	pattern = strings.Replace(pattern, `(?:-C \S+ )?query `, `(?:-C \S+ )?query (?:--no-persist )?`, 1)
	compiled := regexp.MustCompile(pattern)
	compiled.Longest()
	commands.Store(kind, compiled)
	return compiled
}

// runnable is a command after the user's changes: OLD=NEW each for its blanks, +TEXT each for
// additions.
func runnable(command string, changes []string) string {
	for _, change := range changes {
		if more, adds := strings.CutPrefix(change, "+"); adds {
			command += more
			continue
		}
		old, text, _ := strings.Cut(change, "=")
		command = strings.Replace(command, old, text, 1)
	}
	return command
}

// helps KIND… [-CODE] [OLD=NEW|+TEXT…] runs the commands of actions, as the last command
// advised them, one after the other by a shell. They must end well, or with CODE.
func scriptHelps(ts *testscript.TestScript, _ bool, args []string) {
	said, n := ts.ReadFile("stderr")+"\n"+ts.ReadFile("stdout"), kindsOf(args)
	var commands []string
	for _, kind := range args[:n] {
		command := advisedAction(said, action.Kind(kind))
		if command == "" {
			ts.Fatalf("no action %q (%s) in:\n%s", kind, action.Kinds()[action.Kind(kind)], said)
		}
		commands = append(commands, command)
	}
	args, want := args[n:], 0
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		code, err := strconv.Atoi(args[0][1:])
		ts.Check(err)
		args, want = args[1:], code
	}
	command := runnable(strings.Join(commands, " && "), args)
	ts.Logf("$ %s", command)
	err := ts.Exec("sh", "-c", command)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == want:
	case err != nil:
		ts.Fatalf("%s: %v", command, err)
	case want != 0:
		ts.Fatalf("%s: exit code 0, not %d", command, want)
	}
}

// kindsOf is how many words of a line of helps are kinds of actions: at least the first.
func kindsOf(words []string) int {
	for n := 1; n < len(words); n++ {
		if _, known := action.Kinds()[action.Kind(words[n])]; !known {
			return n
		}
	}
	return len(words)
}

// shown matches the places in which a test runs an action: the command of the scripts, or this one in
// Go.
var shown = regexp.MustCompile(`(?m)^(?:\[[^\]]*\] )*helps (.+)|\.helps(?:At)?\([a-z.A-Z()]*, "([a-z0-9-]+)"`)

// helps runs the advised command of an action, by a shell; see runnable for changes.
func (p *workspace) helps(said string, kind action.Kind, changes ...string) result {
	p.t.Helper()
	command := advisedAction(said, kind)
	require.NotEmpty(p.t, command, "no action %q in:\n%s", kind, said)
	return p.shell(runnable(command, changes))
}

// helpsAt is helps for a command that needs a terminal, which a jp of the tests has only as
// the first process of its session.
func (p *workspace) helpsAt(said string, kind action.Kind, changes ...string) *sitting {
	p.t.Helper()
	command := advisedAction(said, kind)
	require.NotEmpty(p.t, command, "no action %q in:\n%s", kind, said)
	return p.sitWith(100, exec.Command("sh", "-c", "exec "+runnable(command, changes)))
}

// Every action of the list is run by a test in the situation in which jp shows it.
func TestEveryActionHelps(t *testing.T) {
	t.Parallel()
	covered := map[action.Kind]bool{}
	for _, glob := range []string{"testdata/script/*.txt", "*_test.go"} {
		files, err := filepath.Glob(glob)
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, match := range shown.FindAllStringSubmatch(string(text), -1) {
				kinds := strings.Fields(match[1] + match[2])
				for _, kind := range kinds[:kindsOf(kinds)] {
					require.Contains(t, action.Kinds(), action.Kind(kind), name)
					covered[action.Kind(kind)] = true
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(action.Kinds())) {
		if unrun[kind] != "" {
			require.False(t, covered[kind], "%s is run by a test now: take it out of unrun", kind)
		} else {
			require.True(t, covered[kind], "no test runs the action %s: %s", kind, action.Kinds()[kind])
		}
	}
	for kind := range unrun {
		require.Contains(t, action.Kinds(), kind)
	}
}

// literal is a command of jp's or git's in a text.
var literal = regexp.MustCompile(`\bjp (-C|answer|archive|attach|blame|config (set|show)|continue|demo|diff|discard|doctor|edit|fork|grep|init|kill|log|ls|models|pack|print|query|ref|restore|rm|show|status|trust|unarchive|undo|use|verify|wait)\b ?|\bgit (add|branch|cat-file|checkout|clone|commit|config|fetch|for-each-ref|fsck|gc|init|lfs|log|pack-refs|pull|push|read-tree|refs|reset|stash|switch|update-ref|worktree) ?`)

// itself is a command as the subject of a sentence, and git's own error: no advice.
var itself = regexp.MustCompile(`^(jp|git) [a-z-]+( [a-z-]+)?( takes | needs | deletes | compares | refuses | is about |: )|^jp %s `)

// Displayed commands come from the list.
func TestNoCommandIsShownBesideTheList(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	root := filepath.Join("..", "..")
	for _, dir := range []string{"agent", "fork", "undo", "blame", "doctor", "cmd/jp", "turnloop", "gitstore", "worktree", "reconcile", "gitcmd", "tool", "hooks", "process"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			path, err := filepath.Rel(root, name)
			if err == nil && filepath.Dir(path) != "internal/action" {
				found[path] = literalCommands(t, name)
			}
			return err
		})
		require.NoError(t, err)
	}
	maps.DeleteFunc(found, func(_ string, n int) bool { return n == 0 })
	require.Equal(t, literals, found, "texts with a command that is not from internal/action; the figures may only fall")
}

// literalCommands counts the texts of a source file that have a command in them. Help is no
// advice: its examples are run by the tests of help.
func literalCommands(t *testing.T, name string) (n int) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.KeyValueExpr:
			if key, ok := node.Key.(*ast.Ident); ok {
				return !slices.Contains([]string{"Use", "Short", "Long", "Example", "Description"}, key.Name)
			}
		case *ast.ValueSpec:
			return !strings.HasSuffix(node.Names[0].Name, "Examples") && !strings.HasSuffix(node.Names[0].Name, "Help")
		case *ast.Field:
			return false
		case *ast.BasicLit:
			text, err := strconv.Unquote(node.Value)
			if err == nil && node.Kind == token.STRING && literal.MatchString(itself.ReplaceAllString(text, "")) {
				n++
			}
		}
		return true
	})
	return n
}

// literals are the texts that have commands still, by file.
var literals = map[string]int{
	"agent/repo/errors.go":      1,
	"agent/repo/resolve.go":     1,
	"agent/resumption.go":       1,
	"cmd/jp/demo.go":            2,
	"cmd/jp/fork.go":            1,
	"cmd/jp/restore.go":         1,
	"doctor/filters.go":         1,
	"doctor/leftovers.go":       1,
	"doctor/remotes.go":         4,
	"gitstore/odb/gc.go":        1,
	"gitstore/verify.go":        1,
	"tool/mcp/remote.go":        1,
	"tool/mcp/server.go":        1,
	"worktree/restore.go":       2,
	"agent/snapshot/staging.go": 1,
}

// unrun are the actions without a test, each with the reason. The list may only shrink.
var unrun = map[action.Kind]string{
	"git-lfs-fetch":   "needs git-lfs, which is a program of its own, and a server",
	"git-lfs-install": "needs git-lfs",
	"git-lfs-pull":    "needs git-lfs and a server",
	"quota":           "needs a file system with quotas, which only root can make",
}
