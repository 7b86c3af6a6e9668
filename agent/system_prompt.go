package agent

import (
	"errors"
	"os"
	"strings"

	"jp/config"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/instructions"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// systemPrompt is the text that every system prompt begins with: jp's own, or that of the user's file.
func systemPrompt(e *repo.Host, file string) (string, error) {
	if file == "" {
		return toolset.SystemPrompt, nil
	}
	path := config.FromHome(file, e.Get("HOME"))
	if !strings.HasPrefix(path, "/") {
		return "", problem.New(problem.ExitUsage, "config", "jp could not use the system prompt %s: system must begin with / or ~/.", safetext.Show(file)).
			Hint(action.UnsetSystem, "use jp's own again")
	}
	text, err := safefile.ReadRegular(path)
	var cause *os.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	prompt := ""
	if err == nil {
		prompt, err = instructions.Decode(text)
	}
	if err == nil && strings.TrimSpace(prompt) == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", problem.New(problem.ExitUsage, "config", "jp could not use the system prompt %s: %v.", safetext.Show(file), err).
			Hint(action.UnsetSystem, "use jp's own again")
	}
	return strings.TrimSpace(prompt), nil
}
