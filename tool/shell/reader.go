package shell

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"jp/internal/lazy"
	"jp/tool"
	"jp/tool/command"
)

// Readers tell commands that only read from others, and run them.
type Readers struct {
	// Launch starts a program that can read some places, and is kept from everything else.
	Launch command.Launcher
	// Environ is the whole environment, apart from the variables that Git adds.
	Environ []string
	// Find returns the path of a program that other programs could not have written.
	Find func(name string) (path string, ok bool)
	// Reads reports whether a path may be read. It is absolute.
	Reads func(path string) bool
	// Secret reports whether a name is typical of a file with secrets.
	Secret func(name string) bool
	// Git returns the command and environment that run git without programs chosen by a repository.
	Git func(ctx context.Context, args []string) (argv, environ []string, err error)
}

// reader returns the commands of a call that only reads, each the input of the next one. ok is false for
// another call. The lists below are of programs and options that only read, start no other program, and end
// by themselves.
func (r *run) reader(raw json.RawMessage) (commands [][]string, ok bool) {
	var args arguments
	if r.opts.Readers == nil || json.Unmarshal(raw, &args) != nil || args.Stdin != "" {
		return nil, false
	}
	dir, err := r.folder(args.Cwd)
	if err != nil {
		return nil, false
	}
	commands = [][]string{args.Argv}
	if len(args.Argv) == 3 && slices.Contains([]string{"sh", "bash"}, args.Argv[0]) && slices.Contains([]string{"-c", "-lc"}, args.Argv[1]) {
		if commands, ok = literalCommands(args.Argv[2], dir); !ok {
			return nil, false
		}
	}
	for i, words := range commands {
		if len(words) == 0 || !onlyReads(words) || slices.ContainsFunc(words[1:], func(word string) bool { return !r.harmless(dir, word) }) {
			return nil, false
		}
		program, found := r.opts.Readers.Find(words[0])
		if !found {
			return nil, false
		}
		commands[i] = append([]string{program}, words[1:]...)
	}
	return commands, true
}

// harmless reports whether a word is free of secrets' names and of files outside of a reader's limits.
func (r *run) harmless(dir, word string) bool {
	names := []string{word}
	if _, value, is := strings.Cut(word, "="); is {
		names = append(names, value)
	}
	if strings.HasPrefix(word, "-") && len(word) > 2 {
		names = append(names, word[2:])
	}
	for _, name := range names {
		if name == "~" || strings.HasPrefix(name, "~/") || slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(":,*?[]!", r) }), r.opts.Readers.Secret) {
			return false
		}
		real, err := filepath.EvalSymlinks(in(dir, name))
		if err == nil && !r.opts.Readers.Reads(real) {
			return false
		}
	}
	return true
}

// literalCommands reads a text for a shell in a folder: one command of literal words and patterns of files, or several joined
// by pipes.
func literalCommands(text, dir string) (commands [][]string, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	var add func(s *syntax.Stmt) bool
	add = func(s *syntax.Stmt) bool {
		if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 {
			return false
		}
		switch c := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			return c.Op == syntax.Pipe && add(c.X) && add(c.Y)
		case *syntax.CallExpr:
			var words []string
			for _, arg := range c.Args {
				word, pattern, literal := literalWord(arg)
				if !literal {
					return false
				}
				names := []string{word}
				if pattern != "" {
					if names, literal = expanded(dir, pattern, word); !literal || len(words) == 0 {
						return false
					}
				}
				words = append(words, names...)
			}
			commands = append(commands, words)
			return len(c.Assigns) == 0
		}
		return false
	}
	ok = add(file.Stmts[0])
	return commands, ok
}

// literalWord is a word as a shell passes it, if the shell only takes quotes away and puts names of files in the place of a
// pattern. pattern is "" for a word without one.
func literalWord(w *syntax.Word) (text, pattern string, ok bool) {
	special := false
	quoted := func(s string) {
		text += s
		pattern += patternEscape().ReplaceAllString(s, `\$0`)
	}
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "{}\\") || i == 0 && strings.HasPrefix(p.Value, "~") {
				return "", "", false
			}
			special = special || strings.ContainsAny(p.Value, "*?[]")
			text += p.Value
			pattern += p.Value
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", "", false
			}
			quoted(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, is := inner.(*syntax.Lit)
				if !is || p.Dollar {
					return "", "", false
				}
				quoted(quotedEscape().ReplaceAllString(lit.Value, "$1"))
			}
		default:
			return "", "", false
		}
	}
	if !special {
		pattern = ""
	}
	return text, pattern, true
}

// patternEscape matches the special characters of a pattern.
var patternEscape = lazy.Regexp(`[*?\[\]\\]`)

// quotedEscape matches an escape in double quotes.
var quotedEscape = lazy.Regexp("\\\\([\\\\\"$`])")

// A readerProgram lists the arguments by which a program does more than read.
type readerProgram struct {
	long  string // options, without dashes. A beginning of one counts as the option
	short string // letters of options, alone or among others
	exact string // arguments
	check func(args []string) bool
}

var readerPrograms = map[string]readerProgram{
	"ls": {}, "cat": {}, "head": {}, "wc": {}, "pwd": {}, "stat": {}, "du": {}, "grep": {},
	"tail": {long: "follow retry pid", short: "fF"},
	"file": {long: "compile uncompress uncompress-noreport no-sandbox", short: "CzZS"},
	"find": {exact: "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf -files0-from"},
	"rg":   {long: "pre pre-glob hostname-bin search-zip", short: "z"},
	"date": {long: "set", short: "s", check: func(args []string) bool {
		return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "+") && !dateOption().MatchString(arg) })
	}},
	"git": {check: gitReads},
	"go": {check: func(args []string) bool {
		return slices.Equal(args, []string{"version"}) || len(args) > 1 && args[0] == "env" && !slices.ContainsFunc(args[1:], func(arg string) bool { return !variableName().MatchString(arg) })
	}},
}

var (
	dateOption   = lazy.Regexp(`^(-u|-R|--utc|--universal|--rfc-email|-I.*|--iso-8601.*|--rfc-3339=.*|--date=.*|-d.+)$`)
	variableName = lazy.Regexp(`^[A-Z][A-Z0-9_]*$`)
)

// sayVersion are programs that can be asked for their version.
var sayVersion = []string{
	"node", "nodejs", "python", "python2", "python3", "ruby", "perl", "gcc", "g++", "cc", "c++", "clang", "clang++", "make", "cmake", "jq", "java", "git", "rg", "file",
}

// onlyReads reports whether a command is one of those that only read.
func onlyReads(words []string) bool {
	name, args := words[0], words[1:]
	if slices.Contains(sayVersion, name) && slices.Equal(args, []string{"--version"}) {
		return true
	}
	p, is := readerPrograms[name]
	return is && !slices.ContainsFunc(args, p.excludes) && (p.check == nil || p.check(args))
}

// excludes reports whether an argument is one of those of the lists.
func (p readerProgram) excludes(arg string) bool {
	if slices.Contains(strings.Fields(p.exact), arg) {
		return true
	}
	if long, is := strings.CutPrefix(arg, "--"); is {
		name, _, _ := strings.Cut(long, "=")
		return name != "" && slices.ContainsFunc(strings.Fields(p.long), func(option string) bool { return strings.HasPrefix(option, name) })
	}
	return strings.HasPrefix(arg, "-") && strings.ContainsAny(arg, p.short)
}

// gitExcluded are options of git by which it writes, or starts a program that the repository may choose.
var gitExcluded = readerProgram{
	long: "output output-directory open-files-in-pager ext-diff textconv show-signature recurse-submodules submodule ignore-submodules exec-path paginate edit-description", short: "O",
}

// gitReads reports whether arguments of git are those of a command that only reads.
func gitReads(args []string) bool {
	if len(args) > 0 && args[0] == "--no-pager" {
		args = args[1:]
	}
	if len(args) == 0 || slices.ContainsFunc(args[1:], gitExcluded.excludes) || slices.ContainsFunc(args, func(arg string) bool { return signature().MatchString(arg) }) {
		return false
	}
	switch args[0] {
	case "status", "log", "diff", "show", "grep", "blame", "ls-files", "rev-parse":
		return true
	case "branch":
		return slices.Equal(args[1:], []string{"--show-current"}) || len(args) > 1 && args[1] == "--list" && !slices.ContainsFunc(args[2:], func(arg string) bool {
			return strings.HasPrefix(arg, "-") && !branchOption().MatchString(arg)
		})
	}
	return false
}

var (
	signature    = lazy.Regexp(`%G|%\(signature|%\(trailers`)
	branchOption = lazy.Regexp(`^(-a|-r|-v|-vv|--all|--remotes|--verbose|--merged|--no-merged|--contains|--sort=.*|--format=.*)$`)
)

// pipeline is the command to run: a single command as it is, several through a shell that takes their words
// literally.
func pipeline(commands [][]string, sh string) []string {
	if len(commands) == 1 {
		return commands[0]
	}
	var parts []string
	for _, words := range commands {
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		parts = append(parts, strings.Join(quoted, " "))
	}
	return []string{sh, "-c", strings.Join(parts, " | ")}
}

// jp ends a reader that exceeds these limits, and asks about it as about any other command.
const (
	readerTime  = 10 * time.Second
	readerBytes = 1 << 20
)

// refused matches the message of a program that was denied access.
var refused = lazy.Regexp(`(?i)permission denied|operation not permitted`)

// runReader runs a call that only reads. If it was denied access, the result says so.
func (r *run) runReader(ctx context.Context, call tool.Call, args arguments, dir string) (tool.Result, error) {
	commands, ok := r.reader(call.Arguments)
	if !ok {
		return tool.Result{Refused: "it is not a command that only reads"}, nil
	}
	p := command.Program{Dir: dir, Env: append(slices.Clone(r.opts.Readers.Environ), "PWD="+dir, command.Marker+"="+Name), Limit: args.limit(readerTime), Grace: r.opts.Grace, Launch: r.opts.Readers.Launch}
	for i, words := range commands {
		if filepath.Base(words[0]) != "git" {
			continue
		}
		argv, environ, err := r.opts.Readers.Git(ctx, words[1:])
		if err != nil {
			return tool.Result{Refused: err.Error()}, nil
		}
		commands[i], p.Env = append(words[:1:1], argv...), append(p.Env, environ...)
	}
	sh, _ := r.opts.Readers.Find("sh")
	p.Argv = pipeline(commands, sh)
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	out, said := &readerOutput{out: tool.NewCapture(readerBytes), full: cancel}, tool.NewCapture(readerBytes)
	p.Output, p.Errors = out, io.MultiWriter(out, said)
	ended, err := p.Run(limited, call)
	messages, _ := said.Content()
	switch {
	case err != nil:
		return tool.Result{Refused: err.Error()}, nil
	case ctx.Err() != nil:
	case out.out.Bytes() > readerBytes:
		return tool.Result{Refused: "it writes more than 1 MiB"}, nil
	case ended.TimedOut && ended.Limit == readerTime:
		return tool.Result{Refused: "it takes more than 10 seconds"}, nil
	case refused().Match(messages):
		return tool.Result{Refused: "it may not read all that it needs"}, nil
	}
	return result(ended, out.out, ""), ctx.Err()
}

// A readerOutput takes both streams of a program, and ends it when there is too much.
type readerOutput struct {
	mu   sync.Mutex
	out  *tool.Capture
	full func()
}

func (o *readerOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.out.Write(p)
	if o.out.Bytes() > readerBytes {
		o.full()
	}
	return n, err
}
