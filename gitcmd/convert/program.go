package convert

import (
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

// ErrRepositoryProgram says that a filter starts a program of the repository, which a tool could replace.
var ErrRepositoryProgram = errors.New("starts a program that lies in this repository")

// MayRun is nil for a filter of the user's own configuration that starts no program of the repository. environ is the
// environment in which git runs it. It is for [gitcmd.Options].
func MayRun(repo gitcmd.Repository, environ []string, f gitcmd.Filter) error {
	if !f.UserOnly {
		return gitcmd.ErrForeignFilter
	}
	x := &examiner{repo: repo, path: filepath.SplitList(variable(environ, "PATH")), home: variable(environ, "HOME")}
	commands := f.Commands()
	for _, key := range slices.Sorted(maps.Keys(commands)) {
		x.script(commands[key])
	}
	return x.err
}

// An examiner looks for programs of a repository in the command lines of a filter. Git runs each with a shell, in the
// top of the working tree.
type examiner struct {
	repo gitcmd.Repository
	path []string // the folders of programs
	home string   // the value of "~"
	err  error    // the first program of the repository
}

func (x *examiner) found(program string) {
	if x.err == nil {
		x.err = fmt.Errorf("%w: %s", ErrRepositoryProgram, program)
	}
}

// script reads a text for a shell.
func (x *examiner) script(text string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		return // a shell refuses it, too
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			x.call(n)
		case *syntax.Redirect:
			if n.Word != nil && n.Hdoc == nil {
				x.argument(x.literal(n.Word), false)
			}
		}
		return true
	})
}

// literal is a word as the shell passes it, without the parts that only running it would tell.
func (x *examiner) literal(w *syntax.Word) (text string) {
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value := unescaped(p.Value, false)
			if i == 0 && (value == "~" || strings.HasPrefix(value, "~/")) {
				value = x.home + value[1:]
			}
			text += value
		case *syntax.SglQuoted:
			text += p.Value
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					text += unescaped(lit.Value, true)
				}
			}
		}
	}
	return text
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

// shells take a script as an argument.
var shells = []string{"sh", "bash", "dash", "ash", "ksh", "zsh"}

// starters run the program that stands behind them.
var starters = []string{"env", "exec", "command", "nice", "nohup", "time", "timeout", "xargs", "sudo", "doas", "setsid", "stdbuf", "ionice", "busybox", "find"}

func (x *examiner) call(c *syntax.CallExpr) {
	for _, assign := range c.Assigns {
		if assign.Value != nil {
			x.argument(x.literal(assign.Value), false)
		}
	}
	var words []string
	for _, arg := range c.Args {
		words = append(words, x.literal(arg))
	}
	if len(words) > 0 {
		x.command(words)
	}
}

// command looks at a command and its arguments.
func (x *examiner) command(words []string) {
	x.program(words[0])
	name := filepath.Base(words[0])
	plain := strings.TrimRight(name, "0123456789.")
	starts, interprets := slices.Contains(starters, name), slices.Contains(interpreters, plain) || slices.Contains(interpreters, name)
	switch {
	case slices.Contains(runners, name):
		x.found(name + ", which does what files of its folder say")
	case interprets:
		x.interpreted(plain, words[1:])
	}
	for i, word := range words[1:] {
		switch {
		case starts && !strings.HasPrefix(word, "-"):
			x.command(words[i+1:])
		case slices.Contains(shells, name) && i > 0 && strings.HasPrefix(words[i], "-") && strings.HasSuffix(words[i], "c"):
			x.script(word)
			continue
		case interprets && strings.HasPrefix(name, "python") && word == "-m" && !slices.Contains(words, "-I") && !slices.Contains(words, "-P"):
			x.found(name + " -m, which takes modules from the working tree first")
		}
		if slices.Contains(shells, name) && i == 0 && strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c") && len(words) > 2 {
			x.script(words[2])
		}
		x.argument(word, interprets)
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
		case strings.HasPrefix(arg, "-"):
		case editor:
			return // the program is an argument; a file of one is looked at as any
		default:
			if x.repo.Holds(x.absolute(arg)) {
				x.found(arg)
			}
			return
		}
	}
}

// program looks at what is started.
func (x *examiner) program(word string) {
	if !strings.Contains(word, "/") {
		for _, dir := range x.path {
			file := filepath.Join(x.absolute(dir), word)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				if x.repo.Holds(file) {
					x.found(file)
				}
				return
			}
		}
		return // the shell's own, or none
	}
	if file := x.absolute(word); x.repo.Holds(file) {
		x.found(word)
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
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && (interprets || info.Mode().Perm()&0o111 != 0 || isScript(file)) {
			x.found(name)
		}
	}
}

// isScript reports whether a file begins as a script does.
func isScript(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
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
