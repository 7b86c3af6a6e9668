package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"jp/config"
)

func newInitCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Write a commented configuration file for this repository", GroupID: "setup", Args: cobra.NoArgs,
		Long: "Write .jp/config.toml with every setting commented out, and nothing else. jp works without it.\n\n" +
			"Exit codes: 0 done · 2 it exists, or not in a repository",
		Example: "  jp init",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), e) },
	}
}

func runInit(ctx context.Context, e *env) error {
	r, err := openRepo(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.TopLevel == "" {
		return usage("a bare repository has no place for %s.", config.WorkspaceFile)
	}
	root, err := os.OpenRoot(r.TopLevel)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(config.WorkspaceFile), 0o777); err != nil {
		return err
	}
	err = makeFile(root, config.WorkspaceFile, config.Template())
	if errors.Is(err, fs.ErrExist) {
		return usage("%s exists already; it was left as it is.", config.WorkspaceFile)
	}
	if err != nil {
		return err
	}
	if e.format.structured() {
		return writeJSON(e.results(), struct {
			Action string       `json:"action"`
			Files  []fileResult `json:"files"`
		}{"init", []fileResult{{Path: config.WorkspaceFile, Done: true}}})
	}
	_, err = fmt.Fprintf(e.results(), "Wrote %s: every setting, commented out.\n", config.WorkspaceFile)
	return err
}

// makeFile makes a file that must not be there yet, as a whole or not at all.
// What a kill leaves of it has a name of its own, and the next one uses it.
func makeFile(root *os.Root, name string, data []byte) error {
	if _, err := root.Lstat(name); err == nil {
		return fmt.Errorf("make %s: %w", name, fs.ErrExist)
	}
	half := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".new")
	err := root.WriteFile(half, data, 0o666)
	if err == nil {
		err = root.Link(half, name) // it replaces nothing
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = root.Rename(half, name) // a file system without links
		}
	}
	_ = root.Remove(half) // it is gone already, or has another name now
	return err
}
