package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"jp/internal/proof"
)

// A suite is a package with its fuzz targets.
type suite struct {
	path    string // of import
	short   string // the path without the module's
	dir     string
	targets []string
	binary  string
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Module                    struct{ Path string }
}

// findSuites reads the targets from the sources, so that only what is run is
// built.
func findSuites(ctx context.Context, packages []string, only *regexp.Regexp) ([]*suite, error) {
	args := append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Module"}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w\n%s", err, stderr.Bytes())
	}
	var suites []*suite
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := in.Decode(&l); errors.Is(err, io.EOF) {
			return suites, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		s, err := l.suite(only)
		if err != nil {
			return nil, err
		}
		if len(s.targets) > 0 {
			suites = append(suites, s)
		}
	}
}

func (l listed) suite(only *regexp.Regexp) (*suite, error) {
	s := &suite{path: l.ImportPath, dir: l.Dir}
	s.short = strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, l.Module.Path), "/")
	for _, file := range append(l.TestGoFiles, l.XTestGoFiles...) {
		names, err := targetsOf(filepath.Join(l.Dir, file))
		if err != nil {
			return nil, err
		}
		s.targets = append(s.targets, names...)
	}
	s.targets = slices.DeleteFunc(s.targets, func(name string) bool { return !only.MatchString(s.short + "." + name) })
	slices.Sort(s.targets)
	return s, nil
}

// targetsOf gives the fuzz targets that a file declares.
func targetsOf(file string) (names []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read fuzz targets: %w", err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") && len(f.Type.Params.List) == 1 {
			names = append(names, f.Name.Name)
		}
	}
	return names, nil
}

// build makes the binary that runs the suite's targets.
func (s *suite) build(ctx context.Context, binary string) error {
	if err := proof.Build(ctx, proof.GoCommand(ctx, "test", "-c", "-fuzz=^Fuzz", "-o", binary, s.path)); err != nil {
		return fmt.Errorf("build the fuzz targets of %s: %w", s.path, err)
	}
	s.binary = binary
	return nil
}

// cacheDir is where go test keeps the inputs that it finds interesting.
func (s *suite) cacheDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return "", fmt.Errorf("find go's cache: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "fuzz", s.path), nil
}

// failing names the files of inputs that are kept for a target.
func (s *suite) failing(target string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "testdata", "fuzz", target))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
