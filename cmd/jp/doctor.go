package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/config"
	"jp/doctor"
)

const doctorHelp = `Check git, the repository, conversations, loose objects and packs, files left by
a kill, locks, the configuration, providers and the terminal, and say how to fix
each problem. doctor changes nothing, and uses the network only with --net.

Every line begins with ok, note (good to know), warn (something does not work, or
may not) or fail (jp cannot do its work, or data is lost).

--fix removes files that a kill left behind, if they are an hour old, yours,
closed, and unchanged while jp holds their lock. It lists what it removed, and
changes nothing else.

Exit codes: 0 nothing failed · 1 something failed`

type doctorOptions struct {
	net bool
	fix bool
}

func newDoctorCommand(e *ui.Env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check jp and its surroundings, and say how to fix problems", GroupID: "setup", Args: cobra.NoArgs,
		Long: doctorHelp, Example: "  jp doctor\n  jp doctor --net\n  jp doctor --fix\n  jp doctor --json | jq -r '.findings[] | select(.level==\"fail\").text'",
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), e, o) },
	}
	cmd.Flags().BoolVar(&o.net, "net", false, "check that providers can be reached, without sending a key")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "remove unused files that a kill left behind")
	return cmd
}

func runDoctor(ctx context.Context, e *ui.Env, o doctorOptions) error {
	found, err := doctor.CheckUp(ctx, e.Host, doctor.Options{
		Net: o.net, Fix: o.fix, Verbose: e.Verbose, Editor: func() (string, string) { return e.EditorCommand() },
		Terminal: func(style config.Style) doctor.Terminal {
			e.Style = style
			t := doctor.Terminal{Is: ui.IsTerminal(e.Stdout), Width: terminal.Width(e.Stdout, e.Environ), Colour: e.Palette(e.Stdout).On()}
			switch {
			case e.Style.Color == "never":
				t.Why = "style.color is never"
			case e.Get("NO_COLOR") != "":
				t.Why = "NO_COLOR is set"
			case e.Get("TERM") == "dumb":
				t.Why = "TERM is dumb"
			default:
				t.Why = "the output is redirected"
			}
			for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
				if t.Locale = e.Get(name); t.Locale != "" {
					break
				}
			}
			plain := strings.ReplaceAll(strings.ToLower(t.Locale), "-", "")
			t.UTF8 = strings.Contains(plain, "utf8")
			return t
		},
		Mistakes: func(r *repo.Repo) (wrong, idle []*config.Error) {
			return agent.Mistakes(r, e.Host), agent.IdleSettings(r)
		},
	})
	if err != nil {
		return err
	}
	if err := printCheckup(e, found); err != nil {
		return err
	}
	if doctor.Count(found.Findings).Fail > 0 {
		return &problem.Error{Exit: problem.ExitFailed, Silent: true}
	}
	return nil
}
