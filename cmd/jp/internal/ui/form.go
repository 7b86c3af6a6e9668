package ui

import (
	"context"
	"errors"
	"os"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"jp/cmd/jp/internal/terminal"
	"jp/turnloop"
)

// errAborted is a form that the user left with Ctrl+C or Esc.
var errAborted = errors.New("the form was left")

// hasForms reports whether a terminal, which redraws or not, can draw forms: it says how large it
// is. On others jp asks in plain lines.
func hasForms(redraws bool, out *os.File) bool { return redraws && terminal.Sized(out) }

// form shows one page of fields until the user has gone through them. A signal ends it as
// it ends any command, and leaves the terminal as it was.
func form(ctx context.Context, environ []string, in, out *os.File, fields ...huh.Field) error {
	terminal.DiscardTyped(in)
	keys := huh.NewDefaultKeyMap()
	keys.Quit.SetKeys("ctrl+c", "esc")
	keys.Confirm.Reject.SetKeys("n", "N", "ctrl+d") // as in the prompts
	page := huh.NewForm(huh.NewGroup(fields...)).WithKeyMap(keys).WithTheme(huh.ThemeFunc(formTheme))
	// Signals are jp's alone: a form that takes them, too, waits for ever to hand one on after the context has ended.
	page.WithProgramOptions(tea.WithoutSignalHandler(), tea.WithEnvironment(environ), tea.WithFilter(quits)).WithInput(in).WithOutput(out)
	err := page.RunWithContext(ctx)
	switch {
	case errors.Is(err, huh.ErrUserAborted):
		return errAborted
	case errors.Is(err, huh.ErrTimeout): // huh's error for any end from outside
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return &turnloop.Interrupt{Signal: "SIGHUP"} // the terminal is gone
	}
	return err
}

// quits ends a form that is left as one that is answered: after an interrupt its reader goes on, and takes the next keys.
func quits(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, is := msg.(tea.InterruptMsg); is {
		return tea.QuitMsg{}
	}
	return msg
}

// formTheme is huh's own, with the chosen button underlined, so that it shows without colours.
func formTheme(dark bool) *huh.Styles {
	styles := huh.ThemeCharm(dark)
	styles.Focused.FocusedButton = styles.Focused.FocusedButton.Bold(true).Underline(true)
	return styles
}

// hangupOf turns the loss of the terminal into jp's end by SIGHUP. It returns other errors unchanged.
func hangupOf(err error) error {
	if errors.Is(err, terminal.ErrHangup) {
		return &turnloop.Interrupt{Signal: "SIGHUP"}
	}
	return err
}
