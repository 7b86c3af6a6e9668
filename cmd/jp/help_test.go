package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/ui"
	"jp/internal/testing/terminaltest"
)

// Every command that a person may type has examples and says how it ends; every flag
// names its value. A name or a default in the flags' column is plain ASCII: pflag
// counts its bytes.
func TestHelpOfEveryCommand(t *testing.T) {
	var look func(cmd *cobra.Command)
	seen := 0
	look = func(cmd *cobra.Command) {
		if seen++; cmd.Name() != "detached" && cmd.HasParent() {
			require.Contains(t, cmd.Long, "\nExit codes: ", cmd.CommandPath())
			require.NotEmpty(t, cmd.Example, cmd.CommandPath())
			for _, line := range strings.Split(strings.TrimRight(cmd.Example, "\n"), "\n") {
				require.Contains(t, line, "jp ", cmd.CommandPath())
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name, _ := pflag.UnquoteUsage(f)
			column := name + f.NoOptDefVal
			require.Equal(t, utf8.RuneCountInString(column), len(column), "%s --%s", cmd.CommandPath(), f.Name)
			if f.NoOptDefVal == "" {
				require.Contains(t, f.Usage, "`", "%s --%s", cmd.CommandPath(), f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRootCommand(ui.SystemEnv()))
	require.Greater(t, seen, 40)
}

// On a terminal the help of every command fits its width, and no word of it is broken.
func TestHelpFitsTheTerminal(t *testing.T) {
	e := ui.SystemEnv()
	e.Stdout = nil
	root := newRootCommand(e)
	seen := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		var out strings.Builder
		root.SetOut(&out)
		require.NoError(t, cmd.Help())
		require.NotContains(t, out.String(), "true|false")
		for _, columns := range []int{120, 80, 48, 40} {
			shown := ui.HelpText(out.String(), columns)
			terminaltest.RequireWrapped(t, out.String(), shown, min(columns, 100))
		}
		seen++
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(root)
	require.Greater(t, seen, 40)
}

func TestHelpOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.sit(80, "help", "fork")
	require.Zero(t, s.exit())
	terminaltest.RequireWrapped(t, p.jp("help", "fork").stdout, s.Raw(), 80)
}
