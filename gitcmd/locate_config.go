package gitcmd

import "bytes"

// leadsOn reports whether a configuration may name other files or folders, whose
// links and bytes git's answer then rests on.
func leadsOn(config []byte) bool {
	text := bytes.ToLower(config)
	return bytes.Contains(text, []byte("include")) ||
		bytes.Contains(bytes.ReplaceAll(text, []byte("worktreeconfig"), nil), []byte("worktree"))
}
