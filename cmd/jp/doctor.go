package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"jp/cmd/jp/internal/terminal"
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

func newDoctorCommand(e *env) *cobra.Command {
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

func runDoctor(ctx context.Context, e *env, o doctorOptions) error {
	found, err := checkUp(ctx, e.host, checkupOptions{
		net: o.net, fix: o.fix, verbose: e.verbose, editor: func() (string, string) { return e.editorCommand() },
		terminal: func(style config.Style) doctor.Terminal {
			e.style = style
			return e.terminalFound()
		},
		mistakes: func(r *repo) (wrong, idle []*config.Error) { return r.mistakes(e.host), r.idle() },
	})
	if err != nil {
		return err
	}
	if err := e.printCheckup(found); err != nil {
		return err
	}
	if doctor.Count(found.findings).Fail > 0 {
		return &failure{exit: exitFailed, silent: true}
	}
	return nil
}

// terminalFound is the terminal as jp sees it.
func (e *env) terminalFound() doctor.Terminal {
	t := doctor.Terminal{Is: isTerminal(e.stdout), Width: terminal.Width(e.stdout, e.environ), Colour: e.palette(e.stdout).On()}
	switch {
	case e.style.Color == "never":
		t.Why = "style.color is never"
	case e.get("NO_COLOR") != "":
		t.Why = "NO_COLOR is set"
	case e.get("TERM") == "dumb":
		t.Why = "TERM is dumb"
	default:
		t.Why = "nobody looks"
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if t.Locale = e.get(name); t.Locale != "" {
			break
		}
	}
	plain := strings.ReplaceAll(strings.ToLower(t.Locale), "-", "")
	t.UTF8 = strings.Contains(plain, "utf8")
	return t
}
