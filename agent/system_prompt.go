package agent

import (
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// systemPrompt is what every model is told first: jp's words, or those in the user's file.
func systemPrompt(e *repo.Host, file string) (string, error) {
	if file == "" {
		return toolset.SystemPrompt, nil
	}
	path := repo.FromHome(file, e.Get("HOME"))
	if !strings.HasPrefix(path, "/") {
		return "", problem.New(problem.ExitUsage, "config", "system = %q must begin with / or ~/.", file)
	}
	text, err := safefile.ReadRegular(path)
	if err != nil {
		return "", problem.New(problem.ExitUsage, "config", "jp could not read the system prompt %s: %v.", safetext.Show(file), err).
			Hint("jp config set --user system \"\"", "use jp's own again")
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", problem.New(problem.ExitUsage, "config", "the system prompt %s is empty.", safetext.Show(file))
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), nil
}
