package gitcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jp/internal/safefile"
)

// Repository is git's location of a folder. Paths are absolute.
type Repository struct {
	GitDir       string // of this working tree: its HEAD and index are here
	CommonDir    string // shared by all working trees: objects and refs are here
	TopLevel     string // of the working tree; "" in a bare repository or a git directory
	ObjectFormat ObjectFormat
	RefFormat    RefFormat
	Bare         bool
	Shallow      bool
}

// oldest is the first git with core.fsync, and with the handling of sparse files that snapshots need.
var oldest = [2]int{2, 36}

// Locate asks git for the repository of dir. If there is none to work with, a *Refusal wraps the sentinel for
// the reason. git's own rules decide about ownership, linked worktrees and ceilings. It starts one child.
func Locate(ctx context.Context, dir string, opts Options) (Repository, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Repository{}, &Refusal{Dir: dir, Err: ErrNotRepository, Ignored: ignored(opts.Environ)}
	}
	g := New(dir, opts)
	out, stderr, err := g.locate(ctx)
	if version, known := versionIn(stderr); known && older(version, oldest) {
		advice := fmt.Sprintf("This is git %s.", version)
		return Repository{}, &Refusal{Dir: dir, Err: ErrGitTooOld, Advice: advice}
	}
	repo, complete := parseLocation(string(out))
	if complete || err != nil && repo.GitDir != "" && repo.TopLevel == "" {
		if err := check(repo, dir); err != nil {
			return repo, err
		}
		return repo, g.checkSecondFormat(ctx, repo, dir)
	}
	return Repository{}, refuse(dir, withoutTrace(stderr), err, opts.Environ)
}

// ignored are the variables that name a repository to git, and that are kept from it here.
func ignored(environ []string) (names []string) {
	if environ == nil {
		environ = os.Environ()
	}
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE"} {
		if slices.ContainsFunc(environ, func(pair string) bool { return strings.HasPrefix(pair, name+"=") && len(pair) > len(name)+1 }) {
			names = append(names, name)
		}
	}
	return names
}

// locate runs rev-parse. The trace on standard error begins with git's version,
// which saves the child that would ask for it.
func (g *Git) locate(ctx context.Context) (stdout []byte, stderr string, err error) {
	c := Command{
		Args: []string{
			"rev-parse", "--path-format=absolute", "--show-object-format", "--show-ref-format",
			"--is-bare-repository", "--is-shallow-repository", "--git-dir", "--git-common-dir", "--show-toplevel",
		},
		Env: []string{"GIT_TRACE2_EVENT=2"},
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.timeout, ErrTimeLimit)
	defer cancel()
	cmd, err := g.command(ctx, c)
	if err != nil {
		return nil, "", err
	}
	trace := &capped{limit: 64 << 10}
	cmd.Stderr = trace
	stdout, err = cmd.Output()
	return stdout, string(trace.data), g.outcome(ctx, c.Args, err, trace)
}

// parseLocation reads the answer. complete means that there is a top level. A path with a newline makes too
// many lines, so the answer is refused.
func parseLocation(out string) (repo Repository, complete bool) {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 6 && len(lines) != 7 || !filepath.IsAbs(lines[4]) || !filepath.IsAbs(lines[5]) {
		return Repository{}, false
	}
	repo = Repository{
		ObjectFormat: ObjectFormat(lines[0]), RefFormat: refFormatIn(lines[1]), Bare: lines[2] == "true", Shallow: lines[3] == "true",
		GitDir: lines[4], CommonDir: lines[5],
	}
	if len(lines) == 7 {
		repo.TopLevel = lines[6]
	}
	return repo, repo.TopLevel != ""
}

// check refuses the formats that jp lacks.
func check(repo Repository, dir string) error {
	if !repo.ObjectFormat.Known() {
		return &Refusal{Dir: dir, Err: ErrObjectFormat}
	}
	if !repo.refsAsExpected() {
		return &Refusal{Dir: dir, Err: fmt.Errorf("%w: %s", ErrRefFormat, repo.RefFormat), Advice: knownRefs}
	}
	return nil
}

// Advice about a format.
const (
	knownRefs = "jp knows refs in files, and reftable in the git directory."
	newerGit  = "A newer git may know it."
)

// checkSecondFormat refuses a repository in which git keeps a table from the name of each object to its name
// in another format. Only git writes the table, and it refuses to commit an object without an entry. As for
// git, the setting counts in this file alone.
func (g *Git) checkSecondFormat(ctx context.Context, repo Repository, dir string) error {
	const key = "extensions.compatObjectFormat"
	file := filepath.Join(repo.CommonDir, "config")
	text, err := safefile.ReadRegular(file)
	if err != nil || !bytes.Contains(bytes.ToLower(text), []byte("compatobjectformat")) {
		return nil
	}
	out, err := g.Run(ctx, "config", "--file", file, "--get", key)
	var exit *ExitError
	if errors.As(err, &exit) && exit.Code == 1 { // the setting is in a comment
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	if version, _ := g.Run(ctx, "config", "--file", file, "--get", "core.repositoryFormatVersion"); string(version) == "0\n" {
		return nil // this git lacks the extension: with it, git would refuse version 0
	}
	return &Refusal{Dir: dir, Err: fmt.Errorf("%w: %s", ErrSecondFormat, strings.TrimSpace(string(out))), Extensions: []string{key}, Advice: "git could not commit what jp has written."}
}

// refuse finds the sentinel for git's error text.
func refuse(dir, stderr string, err error, environ []string) error {
	refusal := &Refusal{Dir: dir}
	said := func(s string) bool { return strings.Contains(stderr, s) }
	switch {
	case errors.Is(err, ErrGitMissing):
		refusal.Err, refusal.Advice = ErrGitMissing, InstallGit
	case said("dubious ownership"), said("unsafe repository"):
		refusal.Err, refusal.Advice = ErrDubiousOwnership, strings.TrimSpace(stderr)
	case said("Expected git repo version"):
		refusal.Err, refusal.Advice = fmt.Errorf("%w: %s", ErrFormatVersion, after(stderr, ", found ")), newerGit
	case said(versionZero):
		refusal.Extensions = extensionsIn(stderr, versionZero)
		refusal.Err = fmt.Errorf("%w: %s", ErrVersionZero, strings.Join(refusal.Extensions, ", "))
	case said("invalid value for 'extensions.refstorage'"):
		refusal.Err, refusal.Advice = fmt.Errorf("%w: %s", ErrRefFormat, after(stderr, "'extensions.refstorage': ")), knownRefs
	case said("refstorage"):
		refusal.Err, refusal.Advice = ErrRefFormat, "Refs in a reftable need git 2.45 or newer."
	case said(unknownExtension):
		refusal.Extensions = extensionsIn(stderr, unknownExtension)
		refusal.Err, refusal.Advice = fmt.Errorf("%w: %s", ErrExtension, strings.Join(refusal.Extensions, ", ")), newerGit
	case said("unknown object format"), said("invalid value for 'extensions.objectformat'"):
		said, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
		said = strings.TrimPrefix(strings.TrimPrefix(said, "error: "), "fatal: ")
		refusal.Err = fmt.Errorf("%w: %s", ErrObjectFormat, said)
	case said("not a git repository"):
		refusal.Err, refusal.Ignored = ErrNotRepository, ignored(environ)
	case said("safe.bareRepository"):
		refusal.Err, refusal.Advice = ErrNotRepository, strings.TrimSpace(stderr)
	case err != nil:
		return fmt.Errorf("open %s: %w", dir, withPlainStderr(err))
	default:
		refusal.Err, refusal.Advice = ErrNotRepository, "The path of the repository has a newline in it: rename that folder."
	}
	return refusal
}

// git's texts before the names of extensions.
const (
	unknownExtension = "unknown repository extension"
	versionZero      = "repo version is 0, but v1-only extension"
)

// after is the rest of the line behind some words.
func after(stderr, words string) string {
	_, rest, _ := strings.Cut(stderr, words)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// extensionsIn are the keys of the extensions that git names behind some words, each on a
// line of its own.
func extensionsIn(stderr, words string) []string {
	_, after, _ := strings.Cut(stderr, words)
	_, after, _ = strings.Cut(after, "\n")
	var keys []string
	for line := range strings.Lines(after) {
		name, indented := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "\t")
		if !indented {
			break
		}
		keys = append(keys, "extensions."+name)
	}
	return keys
}

// versionIn finds the version that git's trace begins with.
func versionIn(stderr string) (string, bool) {
	for line := range strings.Lines(stderr) {
		var event struct{ Event, Exe string }
		if json.Unmarshal([]byte(line), &event) == nil && event.Event == "version" {
			return event.Exe, true
		}
	}
	return "", false
}

func withoutTrace(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "{") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func withPlainStderr(err error) error {
	var exit *ExitError
	if !errors.As(err, &exit) {
		return err
	}
	return &ExitError{Args: exit.Args[:1], Code: exit.Code, Stderr: withoutTrace(exit.Stderr)}
}

// older compares the first two numbers of a version. A version of another form counts as new.
func older(version string, than [2]int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return false
	}
	return major < than[0] || major == than[0] && minor < than[1]
}
