package ui

import (
	"context"
	"errors"
	"strings"

	"charm.land/huh/v2"

	"jp/agent/problem"
)

// InitAnswers are a user's answers for a new configuration file.
type InitAnswers struct {
	Model  string // "" for each user's own
	Recall bool   // the model may look into other conversations
}

// AskInit asks at a terminal for the settings that a repository mostly has. Enter at each
// leaves all of them to the user's own configuration.
func AskInit(ctx context.Context, e *Env) (answers InitAnswers, err error) {
	if !IsTerminal(e.Stdin) || !IsTerminal(e.Stderr) || e.Format.Structured() || !hasForms(Redraws(e.Style, e.Get("TERM")), e.Stderr) {
		return answers, nil
	}
	err = form(ctx, e.formEnviron(), e.Stdin, e.Stderr,
		huh.NewInput().Title("Model for this repository").Description("Enter: each user's own").
			Placeholder("provider/name").Value(&answers.Model).Validate(checkModel),
		huh.NewConfirm().Title("May the model read other conversations?").Affirmative("Yes").Negative("No").Value(&answers.Recall),
	)
	answers.Model = strings.TrimSpace(answers.Model)
	if errors.Is(err, errAborted) {
		err = problem.New(problem.ExitInterrupted, "interrupted", "nothing was written.")
	}
	return answers, err
}

// checkModel takes the name of a model as it is written on the command line.
func checkModel(text string) error {
	provider, name, named := strings.Cut(strings.TrimSpace(text), "/")
	if strings.TrimSpace(text) == "" || named && provider != "" && name != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return nil
	}
	return errors.New("want provider/name, such as mistral/mistral-large-latest")
}
