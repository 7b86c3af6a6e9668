package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/ui"
	"jp/config"
	"jp/internal/action"
	"jp/internal/safetext"
)

func newInitCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Write a commented configuration file for this repository", Args: cobra.NoArgs,
		Long: `Write .jp/config.toml with every setting commented out. jp works without it. On a
terminal jp first asks for the settings that a repository mostly has, and writes
those in use.

Exit codes: 0 done · 1 it cannot be written · 2 it exists, or there is no place for it ·
130 the questions were left with Ctrl+C; nothing was written`,
		Example: "  jp config init",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), e) },
	}
}

func runInit(ctx context.Context, e *ui.Env) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.At.TopLevel == "" {
		return problem.Usage("a bare repository has no place for %s.", config.WorkspaceFile)
	}
	root, err := os.OpenRoot(r.At.TopLevel)
	if err != nil {
		return err
	}
	defer root.Close()
	text := config.Template()
	if _, err := root.Lstat(config.WorkspaceFile); errors.Is(err, fs.ErrNotExist) {
		var answers ui.InitAnswers
		if answers, err = ui.AskInit(ctx, e); err != nil {
			return err
		}
		text = withAnswers(text, answers)
	}
	if err := makeConfig(root, text); err != nil {
		return err
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), struct {
			Action string            `json:"action"`
			Files  []repo.FileResult `json:"files"`
		}{"init", []repo.FileResult{{Path: config.WorkspaceFile, Done: true}}})
	}
	if bytes.Equal(text, config.Template()) {
		_, err = fmt.Fprintf(e.Results(), "Wrote %s: every setting, commented out.\n", config.WorkspaceFile)
		return err
	}
	if _, err = fmt.Fprintf(e.Results(), "Wrote %s: the settings that you chose, and all others commented out.\n", config.WorkspaceFile); err != nil {
		return err
	}
	asked, err := asksForTrust(r, e)
	if err == nil && asked.needed() && !asked.trusted {
		_, err = fmt.Fprintf(e.Results(), "They count once you trust this file:\n\n    %v\n", action.Trust)
	}
	return err
}

// withAnswers takes the # away from the settings that were answered.
func withAnswers(template []byte, answers ui.InitAnswers) []byte {
	var text strings.Builder
	table, used := "", false
	for line := range strings.Lines(string(template)) {
		setting, commented := strings.CutPrefix(line, "# ")
		switch {
		case commented && strings.HasPrefix(setting, "["):
			table = strings.TrimSpace(setting)
			if used = answers.Recall && table == "[tools.recall]"; used {
				line = setting
			}
		case commented && table == "" && answers.Model != "" && strings.HasPrefix(setting, "model = "):
			line = fmt.Sprintf("model = %q\n", answers.Model)
		case commented && used && strings.HasPrefix(setting, "enable = "):
			line = setting
		}
		text.WriteString(line)
	}
	return []byte(text.String())
}

// makeConfig makes the workspace's configuration file and its folder.
func makeConfig(root *os.Root, text []byte) error {
	folder := filepath.Dir(config.WorkspaceFile)
	err := root.MkdirAll(folder, 0o777)
	if info, failed := root.Stat(folder); err != nil && failed == nil && !info.IsDir() {
		return problem.Usage("%s is not a folder, and %s has to be in one of this name.", folder, config.WorkspaceFile).
			Hint(action.MoveAway(folder, folder+".old"), "moves it away")
	}
	if err == nil {
		err = makeFile(root, config.WorkspaceFile, text)
	}
	switch {
	case repo.IsReadOnly(err):
		return repo.Unwritable(err)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if to, err := root.Readlink(config.WorkspaceFile); err == nil {
		if _, err := root.Stat(config.WorkspaceFile); err != nil {
			return problem.Usage("%s is a link to %s, which is not there; it was left as it is.", config.WorkspaceFile, safetext.Show(to)).
				Hint(action.RemoveFile(config.WorkspaceFile), "takes the link away")
		}
	}
	return problem.Usage("%s exists already; it was left as it is.", config.WorkspaceFile)
}

// makeFile makes a new file, as a whole or not at all. A kill can leave a temporary
// file, which the next call reuses.
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
