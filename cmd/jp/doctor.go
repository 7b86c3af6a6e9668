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

const doctorHelp = `Look at what jp works with, and say of each thing whether it is well, and what to do
where it is not: git, the repository, conversations, what is loose and what is
packed, what a kill left behind, who holds what, the configuration, the providers,
the terminal. Nothing is changed, and without --net nothing goes over the network.

Every line begins with ok, note (good to know), warn (something does not work, or may
not) or fail (jp cannot do its work, or something of it is lost).

--fix removes what a kill left behind where it is provably nobody's: an hour old,
yours, opened by no process, and not changed while its lock is held. It says what it
removed, and changes nothing else.

Exit codes: 0 nothing failed · 1 something did`

// doctorOptions are the flags of jp doctor.
type doctorOptions struct {
	net bool
	fix bool
}

func newDoctorCommand(e *ui.Env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look whether all is well, and say what to do where it is not", GroupID: "setup", Args: cobra.NoArgs,
		Long: doctorHelp, Example: "  jp doctor\n  jp doctor --net\n  jp doctor --fix\n  jp doctor --json | jq -r '.findings[] | select(.level==\"fail\").text'",
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), e, o) },
	}
	cmd.Flags().BoolVar(&o.net, "net", false, "ask whether providers can be reached; no key is sent")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "remove what a kill left behind and nobody needs")
	return cmd
}

func runDoctor(ctx context.Context, e *ui.Env, o doctorOptions) error {
	found, err := doctor.CheckUp(ctx, e.Host, doctor.Options{
		Net: o.net, Fix: o.fix, Verbose: e.Verbose, Editor: func() (string, string) { return e.EditorCommand() },
		Terminal: func(style config.Style) doctor.Terminal {
			e.Style = style
			return terminalFound(e)
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

// terminalFound is the terminal as jp sees it.
func terminalFound(e *ui.Env) doctor.Terminal {
	t := doctor.Terminal{Is: ui.IsTerminal(e.Stdout), Width: terminal.Width(e.Stdout, e.Environ), Colour: e.Palette(e.Stdout).On()}
	switch {
	case e.Style.Color == "never":
		t.Why = "style.color is never"
	case e.Get("NO_COLOR") != "":
		t.Why = "NO_COLOR is set"
	case e.Get("TERM") == "dumb":
		t.Why = "TERM is dumb"
	default:
		t.Why = "nobody looks"
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if t.Locale = e.Get(name); t.Locale != "" {
			break
		}
	}
	plain := strings.ReplaceAll(strings.ToLower(t.Locale), "-", "")
	t.UTF8 = strings.Contains(plain, "utf8")
	return t
}
