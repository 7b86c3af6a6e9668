package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"jp/agent/models"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safetext"
)

const modelsHelp = `List the models that you can ask, as -m takes them: those of each provider with a
key, of servers on this machine, and of providers in the configuration. Outside
of a repository, only your own configuration counts. stderr names the unreachable
providers and what each lacks, the other providers, and the date of the table
of prices and limits. --update fetches a newer one for you.

Exit codes: 0 done · 2 no such provider, or the named one has no key ·
7 the named one does not answer, or no table could be fetched`

func newModelsCommand(e *ui.Env) *cobra.Command {
	var update bool
	cmd := &cobra.Command{
		Use: "models [PROVIDER]", Short: "List the models that you can ask", GroupID: "setup", Args: cobra.MaximumNArgs(1),
		Long: modelsHelp, Example: "  jp models\n  jp models ollama\n  jp models --update\n  jp models --json | jq -r '.[] | select(.reachable) | .provider'",
		RunE: func(cmd *cobra.Command, args []string) error { return runModels(cmd.Context(), e, args, update) },
	}
	cmd.Flags().BoolVar(&update, "update", false, "fetch prices and limits of models from models_url")
	return cmd
}

func newLoginCommand(e *ui.Env) *cobra.Command {
	l := ui.Login{Env: e}
	cmd := &cobra.Command{
		Use: "login [PROVIDER]", Short: "Keep the key for a provider of models, or delete it", GroupID: "setup", Args: cobra.MaximumNArgs(1),
		Long: `Ask for the key for a provider of models, or read it from standard input, and try
it with the provider's list of models. Then keep it in the system's keyring, or else in
a file that only you can read. Keys of the configuration and of the environment come
first. Without PROVIDER it is that of the configured model. --remove deletes the kept
key. The provider still accepts it until you revoke it there.

Exit codes: 0 the key is kept or deleted · 1 the keyring does not answer · 2 no such provider,
or no key · 3 a tool or a hook ran this · 7 the provider refuses the key, or does not answer ·
130 interrupted`,
		Example: "  jp login anthropic\n  pass show openai | jp login openai\n  jp login --remove anthropic",
		RunE:    func(cmd *cobra.Command, args []string) error { return l.Run(cmd.Context(), args) },
	}
	cmd.Flags().BoolVar(&l.Out, "remove", false, "delete the key that jp keeps")
	return cmd
}

func runModels(ctx context.Context, e *ui.Env, args []string, update bool) error {
	r, err := e.FindSettings(ctx)
	if err == nil {
		err = r.WarnOfMistake()
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if update {
		table, err := models.ProvidersOf(r).UpdateTable(ctx, e.Host)
		if err == nil {
			e.Note("The table has %s.", models.AboutTable(table))
		}
		return err
	}
	names := models.ProvidersOf(r).ProviderNames(e.Host)
	if len(args) > 0 {
		names = args
	}
	offers := models.ProvidersOf(r).Offers(ctx, e.Host, names)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(args) > 0 && !offers[0].Reachable {
		return offers[0].Failure()
	}
	if e.Format.Structured() {
		return ui.WriteJSON(e.Results(), offers)
	}
	for _, o := range offers {
		for _, model := range o.Models {
			fmt.Fprintln(e.Results(), safetext.Clean(o.Provider+"/"+model))
		}
	}
	for _, o := range offers {
		if !o.Reachable {
			e.Note("%-12s %s", o.Provider, safetext.Clean(o.Why))
		}
	}
	if len(args) == 0 {
		for _, line := range models.ProvidersOf(r).About(e.Host, offers) {
			e.Note("%-12s %s", line[0], line[1])
		}
	}
	return nil
}
