package command

import (
	"slices"
	"strings"
)

// Marker is the variable by which a program can know that a tool runs it. It
// holds the tool's name.
const Marker = "JP_TOOL"

// noEditor is the command of an editor that fails, so that git aborts a commit or a rebase. A silent success
// would count as an edit.
const noEditor = `sh -c 'echo "no editor here: give -m, or --no-edit" >&2; exit 1'`

// unattended are variables for programs that run without a person.
var unattended = []string{
	"GIT_EDITOR=" + noEditor, "GIT_SEQUENCE_EDITOR=" + noEditor, "EDITOR=" + noEditor, "VISUAL=" + noEditor,
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never", "PAGER=cat", "GIT_PAGER=cat",
}

// Environment is the environment of a program of the named tool in dir. It is environ without jp's own
// variables, without keys, without the secret variables and without those that would point git to another
// repository. An editor, a pager or a question for a password ends at once.
func Environment(environ, secret []string, dir, name string) []string {
	kept := slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		return strings.HasPrefix(upper, "JP_") || strings.HasPrefix(upper, "GIT_") ||
			strings.HasSuffix(upper, "_API_KEY") || slices.Contains(secret, name)
	})
	return append(append(kept, unattended...), "PWD="+dir, Marker+"="+name)
}
