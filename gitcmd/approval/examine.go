package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"jp/gitcmd"
)

// ErrLies says that a filter starts a program of the repository: whatever lies there by
// then would run.
var ErrLies = errors.New("starts a program that lies in this repository")

// ErrUnclear says that the command lines of a filter do not say what they start.
var ErrUnclear = errors.New("does not say plainly what it starts")

// An examiner finds what a command line of a filter names in a repository. Git runs it by
// a shell in the top of the working tree.
type examiner struct {
	repo  gitcmd.Repository
	path  []string          // where programs are looked for
	home  string            // what "~" stands for
	files map[string]string // those that are named, with their hashes, by path
	err   error             // the first thing that is wrong
}

// examine looks at all command lines of a filter.
func (a Approvals) examine(f gitcmd.Filter) (files map[string]string, err error) {
	x := &examiner{repo: a.Repo, path: filepath.SplitList(variable(a.Environ, "PATH")), home: variable(a.Environ, "HOME"), files: map[string]string{}}
	commands := f.Commands()
	for _, key := range slices.Sorted(maps.Keys(commands)) {
		x.script(commands[key])
	}
	return x.files, x.err
}

// fail keeps the worst that is wrong: a program of the repository before what is unclear.
func (x *examiner) fail(err error) {
	if x.err == nil || errors.Is(err, ErrLies) && !errors.Is(x.err, ErrLies) {
		x.err = err
	}
}

// script reads a text for a shell.
func (x *examiner) script(text string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		x.fail(fmt.Errorf("%w: %q", ErrUnclear, text))
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			x.call(n)
		case *syntax.FuncDecl:
			x.fail(fmt.Errorf("%w: a function", ErrUnclear))
		case *syntax.Redirect:
			if n.Word != nil && n.Hdoc == nil {
				if word, plain := x.literal(n.Word); plain {
					x.argument(word, false)
				}
			}
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp, *syntax.ProcSubst, *syntax.ExtGlob:
			x.fail(fmt.Errorf("%w: %q", ErrUnclear, text))
		}
		return true
	})
}

// literal is a word as the shell passes it, if that can be told without running anything.
func (x *examiner) literal(w *syntax.Word) (text string, plain bool) {
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value := unescaped(p.Value, false)
			if i == 0 && (value == "~" || strings.HasPrefix(value, "~/")) {
				value = x.home + value[1:]
			}
			if p.Value == value && strings.ContainsAny(value, "*?[") { // a pattern may stand for any file
				x.fail(fmt.Errorf("%w: %q", ErrUnclear, value))
			}
			text += value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				text += unescaped(lit.Value, true)
			}
		default:
			return "", false
		}
	}
	return text, true
}

// unescaped takes out the backslashes that a shell takes out.
func unescaped(text string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("\\\"$`\n", text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// interpreters run the files that are named to them.
var interpreters = []string{
	"sh", "bash", "dash", "ash", "ksh", "zsh", "fish", "python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php",
	"lua", "awk", "gawk", "mawk", "sed", "tclsh", "wish", "expect", "osascript", "pwsh", "java",
}

// runners do what files of the folder say in which they are started.
var runners = []string{
	"make", "gmake", "bmake", "ninja", "just", "task", "rake", "bundle", "npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "cargo", "go", "gradle", "gradlew",
	"mvn", "ant", "bazel", "buck2", "cmake", "meson", "scons", "tox", "nox", "invoke", "fab", "poetry", "pipenv", "uv", "hatch", "pdm", "composer", "mix",
	"dotnet", "sbt", "stack", "cabal", "dune", "nix", "nix-shell", "direnv", "docker", "docker-compose", "podman", "pre-commit", "lefthook",
}

// gitCommands are git's own that a filter may use. An alias cannot take their places.
var gitCommands = []string{
	"annotate", "archive", "blame", "cat-file", "check-attr", "check-ignore", "column", "config", "describe", "diff", "for-each-ref", "hash-object",
	"interpret-trailers", "log", "ls-files", "ls-tree", "mailinfo", "merge-file", "name-rev", "patch-id", "rev-list", "rev-parse", "show", "show-ref",
	"status", "stripspace", "symbolic-ref", "var", "version",
}

// shells take a script as an argument.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh"}

// starters run the program that stands behind them.
var starters = []string{"env", "exec", "command", "nice", "nohup", "time", "timeout", "xargs", "sudo", "doas", "setsid", "stdbuf", "ionice", "busybox", "find"}

// bent are the variables that change what a program of a plain name is.
var bent = []string{"PATH", "IFS", "ENV", "BASH_ENV", "PYTHONPATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT", "NODE_OPTIONS", "NODE_PATH"}

func (x *examiner) call(c *syntax.CallExpr) {
	for _, assign := range c.Assigns {
		name := assign.Name.Value
		if slices.Contains(bent, name) || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "GIT_") {
			x.fail(fmt.Errorf("%w: it sets %s", ErrUnclear, name))
		}
		if assign.Value != nil {
			if word, plain := x.literal(assign.Value); plain {
				x.argument(word, false)
			}
		}
	}
	var words []string
	for _, arg := range c.Args {
		word, plain := x.literal(arg)
		if !plain {
			x.fail(fmt.Errorf("%w: a word is made by the shell", ErrUnclear))
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return
	}
	x.command(words)
}

// command looks at a command and its arguments.
func (x *examiner) command(words []string) {
	x.program(words[0])
	name := filepath.Base(words[0])
	switch plain := strings.TrimRight(name, "0123456789."); {
	case slices.Contains(runners, name):
		x.fail(fmt.Errorf("%w: %s does what files of its folder say", ErrLies, name))
	case name == "git":
		x.gitCommand(words[1:])
	case slices.Contains(interpreters, plain) || slices.Contains(interpreters, name):
		x.interpreted(plain, words[1:])
	}
	if name == "eval" || name == "." || name == "source" || name == "alias" || name == "cd" {
		x.fail(fmt.Errorf("%w: %s", ErrUnclear, name))
	}
	starts := slices.Contains(starters, name)
	interprets := slices.Contains(interpreters, strings.TrimRight(name, "0123456789.")) || slices.Contains(interpreters, name)
	for i, word := range words[1:] {
		switch {
		case starts && !strings.HasPrefix(word, "-"):
			x.command(words[i+1:])
		case slices.Contains(shells, name) && i > 0 && strings.HasPrefix(words[i], "-") && strings.HasSuffix(words[i], "c"):
			x.script(word)
			continue
		case interprets && strings.HasPrefix(name, "python") && word == "-m" && !slices.Contains(words, "-I") && !slices.Contains(words, "-P"):
			x.fail(fmt.Errorf("%w: %s -m takes modules from the working tree first", ErrLies, name))
		}
		if slices.Contains(shells, name) && i == 0 && strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") && len(words) > 2 {
			x.script(words[2])
		}
		x.argument(word, interprets)
	}
}

// gitCommand looks at the arguments of git. What is neither git's own command nor a program
// in PATH may be an alias of any configuration.
func (x *examiner) gitCommand(args []string) {
	for i, arg := range args {
		switch {
		case arg == "--no-pager" || arg == "--literal-pathspecs" || arg == "--no-replace-objects":
			continue
		case strings.HasPrefix(arg, "-"):
			x.fail(fmt.Errorf("%w: git %s changes what git starts", ErrUnclear, arg))
		case slices.Contains(gitCommands, arg):
		case x.inPath("git-" + arg):
			x.program("git-" + arg)
		default:
			x.fail(fmt.Errorf("%w: git %s may be an alias", ErrUnclear, strings.Join(args[:i+1], " ")))
		}
		return
	}
}

// interpreted looks at the arguments of an interpreter: it takes code from what its options
// name, and from the first file that is named, whether or not that is there by now.
func (x *examiner) interpreted(name string, args []string) {
	editor := name == "sed" || strings.HasSuffix(name, "awk")
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case slices.Contains([]string{"-c", "-e", "-E", "--eval", "-p", "-m", "-ec", "-lc", "-ce"}, arg) && !editor:
			return // its argument is the code, or a module, and what follows is data
		case (name == "perl" || name == "ruby") && len(arg) <= 5 && strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "e"):
			return // -pe, -lne
		case (name == "perl" || name == "ruby" || name == "node" || name == "lua") && (strings.HasPrefix(arg, "-I") || strings.HasPrefix(arg, "-r") || strings.HasPrefix(arg, "-M") && strings.Contains(arg, ".") || strings.HasPrefix(arg, "--require") || strings.HasPrefix(arg, "--import") || strings.HasPrefix(arg, "-l") && name == "lua"):
			x.fail(fmt.Errorf("%w: %s %s takes code from a folder", ErrUnclear, name, arg))
		case strings.HasPrefix(arg, "-"):
		case editor:
			return // the program is an argument; a file of one is looked at as any
		default:
			if x.repo.Holds(x.absolute(arg)) {
				x.fail(fmt.Errorf("%w: %s", ErrLies, arg))
			}
			return
		}
	}
}

// inPath reports whether there is a program of a name.
func (x *examiner) inPath(name string) bool {
	return slices.ContainsFunc(x.path, func(dir string) bool {
		info, err := os.Stat(filepath.Join(x.absolute(dir), name))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	})
}

// program looks at what is started.
func (x *examiner) program(word string) {
	if !strings.Contains(word, "/") {
		for _, dir := range x.path {
			file := filepath.Join(x.absolute(dir), word)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				if x.repo.Holds(file) {
					x.fail(fmt.Errorf("%w: %s", ErrLies, file))
				}
				return
			}
		}
		return // the shell's own, or none
	}
	if file := x.absolute(word); x.repo.Holds(file) {
		x.fail(fmt.Errorf("%w: %s", ErrLies, word))
	}
}

func (x *examiner) absolute(word string) string {
	if filepath.IsAbs(word) {
		return filepath.Clean(word)
	}
	return filepath.Join(x.repo.TopLevel, word)
}

// argument looks whether a word, or a part of it, names something of the repository.
func (x *examiner) argument(word string, interprets bool) {
	names := append([]string{word}, strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=:,@'\"() ;", r) })...)
	if strings.HasPrefix(word, "-") && len(word) > 2 {
		names = append(names, word[2:])
	}
	for _, name := range names {
		if name == "" || name == "." || name == "/" {
			continue
		}
		file := x.absolute(name)
		if !x.repo.Holds(file) {
			continue
		}
		info, err := os.Stat(file)
		if err != nil || info.IsDir() {
			if err == nil && strings.Contains(name, "/") {
				x.fail(fmt.Errorf("%w: %s is a folder of the repository", ErrUnclear, name))
			}
			continue
		}
		if !info.Mode().IsRegular() {
			x.fail(fmt.Errorf("%w: %s is not an ordinary file", ErrUnclear, name))
			continue
		}
		hash, script, err := digest(file)
		switch {
		case err != nil:
			x.fail(fmt.Errorf("%w: %v", ErrUnclear, err))
		case interprets || script || info.Mode().Perm()&0o111 != 0:
			x.fail(fmt.Errorf("%w: %s", ErrLies, name))
		default:
			x.files[name] = hash
		}
	}
}

// digest hashes a file, and says whether it begins as a script does.
func digest(file string) (hash string, script bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	h := sha256.New()
	head := make([]byte, 2)
	n, _ := io.ReadFull(f, head)
	h.Write(head[:n])
	if _, err := io.Copy(h, f); err != nil {
		return "", false, err
	}
	return hex.EncodeToString(h.Sum(nil)), bytes.Equal(head, []byte("#!")), nil
}

// variable is the value in an environment; the last one counts.
func variable(environ []string, name string) (value string) {
	for _, pair := range environ {
		if v, is := strings.CutPrefix(pair, name+"="); is {
			value = v
		}
	}
	return value
}
