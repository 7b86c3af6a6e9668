package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"jp/proof/prooftool"
)

// traced are the folders whose functions are traced.
var traced = []string{"cmd/jp", "agent"}

// recorder is the folder of the functions that record events. The trace ends in the first.
const recorder = "gitstore"

// started is the function of the application with which a query begins. Before it jp makes its
// commands, as it does for each of them.
const started = "runQuery"

// traceFile is the variable that names the file for the trace.
const traceFile = "JP_VISITS"

// tracer is the package that the traced functions call. It is in no folder of jp's: the build
// alone knows it.
const tracer = `package visits

import (
	"os"
	"strings"
	"sync"
)

var (
	mu    sync.Mutex
	calls []string
	over  bool
)

func Enter(file, function string) {
	mu.Lock()
	defer mu.Unlock()
	if !over {
		calls = append(calls, file+"\t"+function+"\n")
	}
}

func Stop() {
	mu.Lock()
	defer mu.Unlock()
	if path := os.Getenv("` + traceFile + `"); !over && path != "" {
		if err := os.WriteFile(path, []byte(strings.Join(calls, "")), 0o600); err != nil {
			panic(err)
		}
	}
	over = true
}
`

// build builds jp with the traced functions.
func build(ctx context.Context, scratch, path string) error {
	root, err := prooftool.Root()
	if err != nil {
		return err
	}
	replace := map[string]string{}
	put := func(name string, text []byte) error {
		copied := filepath.Join(scratch, fmt.Sprintf("%d.go", len(replace)))
		replace[filepath.Join(root, name)] = copied
		return os.WriteFile(copied, text, 0o600)
	}
	if err := put("internal/visits/visits.go", []byte(tracer)); err != nil {
		return err
	}
	stops := 0
	for _, folder := range append(slices.Clone(traced), recorder) {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || folder == recorder && d.Name() != recorder):
				return fs.SkipDir
			case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			text, n, err := instrument(name, filepath.ToSlash(rel))
			if err != nil || n == 0 {
				return err
			}
			if folder == recorder {
				stops += n
			}
			return put(rel, text)
		})
		if err != nil {
			return err
		}
	}
	if stops == 0 {
		return errors.New("no function was found that records events")
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	list := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return err
	}
	cmd := prooftool.GoCommand(ctx, "build", "-overlay", list, "-o", path, "./cmd/jp")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return prooftool.Build(ctx, cmd)
}

// instrument is a file with a line at the start of each function that is traced or ends the trace,
// and how many there are.
func instrument(path, name string) (text []byte, n int, err error) {
	if text, err = os.ReadFile(path); err != nil {
		return nil, 0, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, 0)
	if err != nil {
		return nil, 0, err
	}
	insert := map[int]string{}
	ends := strings.HasPrefix(name, recorder+"/")
	for _, d := range file.Decls {
		fn, is := d.(*ast.FuncDecl)
		if !is || fn.Body == nil {
			continue
		}
		line := fmt.Sprintf(" visits.Enter(%q, %q);", name, fn.Name.Name)
		if ends {
			if fn.Recv == nil || fn.Name.Name != "Create" && fn.Name.Name != "Append" {
				continue
			}
			line = " visits.Stop();"
		}
		insert[fset.Position(fn.Body.Lbrace).Offset+1] = line
		n++
	}
	insert[fset.Position(file.Name.End()).Offset] = `; import "jp/internal/visits"`
	var out []byte
	at := 0
	for offset := range len(text) + 1 {
		if line, is := insert[offset]; is {
			out = append(append(out, text[at:offset]...), line...)
			at = offset
		}
	}
	return append(out, text[at:]...), n, nil
}

// trace runs one query in a new repository, and returns the calls up to its first event.
func trace(ctx context.Context, scratch, jp string) ([]call, error) {
	home, repository := filepath.Join(scratch, "home"), filepath.Join(scratch, "repository")
	for _, dir := range []string{home, repository} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	script, calls := filepath.Join(scratch, "model.toml"), filepath.Join(scratch, "calls")
	if err := os.WriteFile(script, []byte("[[reply]]\nmessage = \"Hello\"\n"), 0o600); err != nil {
		return nil, err
	}
	environ := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
		traceFile + "=" + calls,
	}
	for _, argv := range [][]string{
		{"git", "init", "-q"},
		{"git", "commit", "-q", "--allow-empty", "-m", "start"},
		{jp, "query", "--new", "-m", "script/" + script, "Hello"},
	} {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = repository, environ
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
		}
	}
	f, err := os.Open(calls)
	if err != nil {
		return nil, fmt.Errorf("the query recorded no event: %w", err)
	}
	defer f.Close()
	var found []call
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		file, function, _ := strings.Cut(lines.Text(), "\t")
		if len(found) > 0 || function == started {
			found = append(found, call{file, function})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the query did not call %s", started)
	}
	return found, nil
}
