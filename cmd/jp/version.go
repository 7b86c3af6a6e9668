package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent/toolset"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/version"
	"jp/sandbox"
)

func newVersionCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Hidden: true, Args: cobra.NoArgs,
		Long: `Print the versions of jp, of its format and of Go. With -v also print what the
sandbox can enforce on this system (docs/sandbox.md). With --json also print the
commit that jp was built from, its date, and git's version.

JSON: {"version","commit","date","format","json","go","git"}

Exit codes: 0 done · 2 usage`,
		Example: "  jp version\n  jp version -v\n  jp version --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runVersion(cmd.Context(), e) },
	}
}

func runVersion(ctx context.Context, e *ui.Env) error {
	v := version.Get()
	if !e.Format.Structured() {
		_, err := fmt.Fprintf(e.Results(), "jp %s (format %d, %s)\n", v.Version, conversation.Version, runtime.Version())
		if err == nil && e.Verbose {
			_, err = fmt.Fprintln(e.Results(), toolset.SupportWords(sandbox.Supported(), sandbox.OwnLoopback()))
		}
		return err
	}
	git := ""
	if out, err := gitcmd.New(e.Dir, gitcmd.Options{Environ: e.Environ}).Run(ctx, "version"); err == nil {
		git = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	}
	return json.NewEncoder(e.Results()).Encode(struct {
		Version string `json:"version"`
		Commit  string `json:"commit"`
		Date    string `json:"date"`
		Format  int    `json:"format"`
		JSON    int    `json:"json"`
		Go      string `json:"go"`
		Git     string `json:"git"`
	}{v.Version, v.Commit, v.Date, conversation.Version, ui.JsonVersion, runtime.Version(), git})
}
