package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/ui"
	"jp/config"
	"jp/internal/action"
	"jp/internal/safetext"
)

func newConfigCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show and change settings", GroupID: "setup",
		Long: `Show the settings in force and where each comes from, change one, take out an
allow rule, print the paths of the files, or write the first one.

Exit codes: 0 done · 2 no such command; show, set, remove, path and init have their own`,
		Example: "  jp config show policy\n  jp config set model mistral/mistral-large-latest\n  jp config path",
		Args:    func(cmd *cobra.Command, args []string) error { return noSuchCommand(cmd, args) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigShowCommand(e), newConfigSetCommand(e), newConfigRemoveCommand(e), newConfigPathCommand(e), newInitCommand(e))
	return cmd
}

func newConfigShowCommand(e *ui.Env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "show [KEY]", Aliases: []string{"get"}, Short: "Show the settings in force, and where they come from", Args: cobra.MaximumNArgs(1),
		Long: `Show the changed settings as TOML, with the place that each comes from. With KEY,
show the keys at or below it and their defaults. With --all, show all defaults.
Settings without effect are listed with the reason. Outside of a repository, only
your own configuration counts.

JSON: [{"key","value","from","effect","reason"}]

Exit codes: 0 done · 1 KEY is not set · 2 the configuration is wrong, or there is no such key`,
		Example: "  jp config show\n  jp config show limits",
		RunE:    func(cmd *cobra.Command, args []string) error { return runConfigShow(cmd.Context(), e, args, all) },
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "the defaults, too")
	return cmd
}

// A settingInForce is one key with the origin of its value.
type settingInForce struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // as TOML
	From   string `json:"from"`
	Effect bool   `json:"effect"`
	Reason string `json:"reason"` // why it has no effect
}

func runConfigShow(ctx context.Context, e *ui.Env, args []string, all bool) error {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Wrong != nil {
		return r.Wrong
	}
	under := ""
	if len(args) > 0 {
		under = args[0]
		if !config.Known(under) {
			return problem.Usage("there is no key %q.", under).Hint(action.ShowConfig, "all that are set")
		}
	}
	settings := []settingInForce{}
	for _, key := range slices.Sorted(maps.Keys(r.Report.Origins)) {
		origin := r.Report.Origins[key]
		if below(key, under) && (all || under != "" || origin.Layer != config.LayerDefault) {
			settings = append(settings, settingInForce{Key: key, Value: r.Report.Values[key], From: origin.String(), Effect: true})
		}
	}
	for _, k := range r.Report.Inert {
		if below(k.Key, under) {
			settings = append(settings, settingInForce{Key: k.Key, Value: k.Value, From: k.Origin.String(), Reason: string(k.Reason)})
		}
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), settings)
	}
	w := tabwriter.NewWriter(e.Results(), 0, 0, 3, ' ', 0)
	for _, s := range settings {
		from := s.From
		if !s.Effect {
			from += " – no effect: " + s.Reason
		}
		fmt.Fprintf(w, "%s = %s\t# %s\n", safetext.Show(s.Key), safetext.Show(s.Value), safetext.Show(from))
	}
	if err := w.Flush(); err != nil || len(settings) > 0 || under == "" {
		return err
	}
	return problem.New(problem.ExitFailed, "config", "%s is not set, and has no default.", under).Hint(action.ShowConfig, "all that are set")
}

func below(key, table string) bool {
	return table == "" || key == table || strings.HasPrefix(key, table+".")
}

func newConfigSetCommand(e *ui.Env) *cobra.Command {
	var workspace bool
	cmd := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in your configuration file", Args: cobra.ExactArgs(2),
		Long: `Write one key of your configuration file, or of this repository's. The rest of
the file stays as it is. VALUE is TOML, or plain text for a key that takes text.
jp refuses a value that makes the settings invalid as a whole, such as a server's
variable before its command.

JSON: {"action","files"}

Exit codes: 0 done · 1 the file cannot be written · 2 no such key, or a wrong
value; with --workspace not in a repository`,
		Example: "  jp config set model mistral/mistral-large-latest\n  jp config set policy.allow '[[\"go\", \"test\"]]'\n  jp config set --workspace limits.model_calls 20",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runConfigSet(cmd.Context(), e, args[0], args[1], workspace)
		},
	}
	cmd.Flags().BoolVar(&workspace, "workspace", false, "write .jp/config.toml of this repository")
	return cmd
}

func runConfigSet(ctx context.Context, e *ui.Env, key, value string, workspace bool) error {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	origin := config.Origin{Layer: config.LayerUser, Name: r.Paths.UserFile}
	if workspace {
		switch {
		case r.Store == nil:
			return problem.Usage("%s is not in a git repository: there is no %s to write.", safetext.Show(absolute(e.Dir)), config.WorkspaceFile).
				Hint(action.SetConfig, "without --workspace: your own configuration file")
		case r.At.TopLevel == "":
			return problem.Usage("a bare repository has no place for %s.", config.WorkspaceFile)
		}
		origin = config.Origin{Layer: config.LayerWorkspace, Name: filepath.Join(r.At.TopLevel, filepath.FromSlash(config.WorkspaceFile))}
	}
	draft, err := config.NewDraft(origin, key, value)
	if err != nil {
		return err
	}
	if mistake := draft.Adds(func(content []byte) []*config.Error { return agent.Examine(r, e.Host, origin.Layer, content) }); mistake != nil {
		return agent.NotSet(draft.Key, mistake, workspace)
	}
	if err := draft.Write(); err != nil {
		return err
	}
	if err := r.Configure(e.Host, nil); err != nil {
		return err
	}
	err = ui.ChangedFiles(e.Results(), e.Format.Structured(), "set", fmt.Sprintf("Set %s in %s.", safetext.Show(key), safetext.Show(origin.Name)), origin.Name)
	if err != nil || e.Format.Structured() {
		return err
	}
	warnOfSetting(r, e, key, workspace)
	return nil
}

// absolute is the full path of a folder, for messages.
func absolute(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		return full
	}
	return dir
}

// warnOfSetting notes the reason if a written setting has no effect.
func warnOfSetting(r *repo.Repo, e *ui.Env, key string, workspace bool) {
	layer := config.LayerUser
	if workspace {
		layer = config.LayerWorkspace
	}
	for _, k := range r.Report.Inert {
		if k.Key == key && k.Origin.Layer == layer {
			if k.Reason == config.ReasonUntrusted {
				e.Note("It has no effect yet: %s; %s approves it.", k.Reason, action.Trust)
			} else {
				e.Note("It has no effect: %s.", k.Reason)
			}
			return
		}
	}
	if origin := r.Report.Origins[key]; r.Wrong == nil && origin.Layer > layer {
		e.Note("Another value is in force: %s sets it, too.", safetext.Show(origin.String()))
	}
}

func newConfigRemoveCommand(e *ui.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove KEY RULE…", Short: "Take an allow rule out of your configuration files", Args: cobra.MinimumNArgs(2),
		Long: `Take one rule out of your configuration files, such as one that "always" at a
question added. KEY is policy.allow with the words of a command, policy.allow_edits
with a folder, or policy.allow_tools with the name of a tool. jp config show policy
lists the rules.

JSON: {"action","files"}

Exit codes: 0 done · 1 your files have no such rule · 2 KEY has no rules`,
		Example: "  jp config remove policy.allow go test\n  jp config remove policy.allow_edits src/parser\n  jp config remove policy.allow_tools delegate",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runConfigRemove(cmd.Context(), e, args[0], args[1:])
		},
	}
	cmd.Flags().SetInterspersed(false) // the words of a command may be flags
	return cmd
}

func runConfigRemove(ctx context.Context, e *ui.Env, key string, words []string) error {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	files, err := agent.Disallow(r, key, words)
	if err != nil {
		return err
	}
	return ui.ChangedFiles(e.Results(), e.Format.Structured(), "remove", fmt.Sprintf("Removed %s from %s in %s.", safetext.EscapeAll(words), key, safetext.Show(strings.Join(files, ", "))), files...)
}

func newConfigPathCommand(e *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print the paths of the configuration files", Args: cobra.NoArgs,
		Long: `Print the paths of your configuration file, of this repository's, and of your own
file for this repository, also if they do not exist. Outside of a repository, print
yours alone.

JSON: {"user","workspace","repository"}

Exit codes: 0 done · 2 there is no home directory`,
		Example: "  $EDITOR \"$(jp config path | head -n 1)\"",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runConfigPath(cmd.Context(), e) },
	}
}

func runConfigPath(ctx context.Context, e *ui.Env) error {
	r, err := e.FindSettings(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	workspace := ""
	if r.At.TopLevel != "" {
		workspace = filepath.Join(r.At.TopLevel, filepath.FromSlash(config.WorkspaceFile))
	}
	own := r.Standings().OwnFile()
	if e.Format.Structured() {
		return json.NewEncoder(e.Results()).Encode(struct {
			User       string `json:"user"`
			Workspace  string `json:"workspace"`
			Repository string `json:"repository"`
		}{r.Paths.UserFile, workspace, own})
	}
	fmt.Fprintln(e.Results(), r.Paths.UserFile)
	if workspace != "" {
		fmt.Fprintln(e.Results(), workspace)
	}
	if own != "" {
		fmt.Fprintln(e.Results(), own)
	}
	return nil
}
