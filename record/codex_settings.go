package record

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"jp/agent/problem"
)

// codexHook is the hook of a command, which is a string of TOML.
func codexHook(command []byte) string {
	return fmt.Sprintf(`{matcher="*",hooks=[{type="command",command=%s,timeout=%d}]}`, command, hookSeconds)
}

// Comments around the lines of jp in the settings of Codex. The last one is behind a value: Codex adds what it writes
// itself behind the last table, and moves a comment there to the end.
const (
	codexBegin = "# jp record install codex: begin "
	codexEnd   = " # jp record install codex: end\n"
)

// codexSettings plans to put jp's hooks into the user's settings of Codex, with the trust in them.
func codexSettings(ctx context.Context, l Launch, remove bool) (c SettingsChange, err error) {
	if l.Folder != "" {
		return c, problem.Usage("Codex runs a hook of a project only after each user has trusted it. Use your own settings, without --project.")
	}
	home := cmp.Or(l.Getenv("CODEX_HOME"), filepath.Join(l.Getenv("HOME"), ".codex"))
	if c, err = settingsIn(filepath.Join(home, "config.toml")); err != nil {
		return c, err
	}
	before, after, lead, err := aroundCodex(c)
	if err != nil {
		return c, err
	}
	if remove {
		if after != "" && before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n" // which Codex needs before what it added
		}
		if c.After = []byte(before + after); before+after+lead == "" {
			c.After = nil // there was no file
		}
		return c, nil
	}
	block, err := l.codexBlock(ctx, c.Path, home, before)
	if err != nil {
		return c, err
	}
	c.After = []byte(before + lead + block + after)
	var all any
	if err := toml.Unmarshal(c.After, &all); err != nil {
		return c, problem.Usage("cannot add the hooks of jp to %s (want [[hooks.EVENT]] there): %v.", c.Path, err)
	}
	return c, nil
}

// aroundCodex is the text before and behind the lines of jp. lead is the line end between the first and these lines.
func aroundCodex(c SettingsChange) (before, after, lead string, err error) {
	before = string(c.Before)
	from, to := strings.Index(before, codexBegin), strings.Index(before, codexEnd)
	switch {
	case c.Before == nil:
		return "", "", "", nil
	case from < 0 && to < 0:
		return before, "", "\n", nil
	case from < 0 || to < from || !isSealed("#", "codex", before[from:to+len(codexEnd)]):
		return "", "", "", errUnsealed(c.Path, "The lines of jp record install")
	}
	after = before[to+len(codexEnd):]
	if next := strings.TrimSpace(after); next != "" && next[0] != '[' && next[0] != '#' {
		return "", "", "", errUnsealed(c.Path, "The lines of jp record install") // a value of their last table
	}
	before, found := strings.CutSuffix(before[:from], "\n")
	if found {
		lead = "\n"
	}
	return before, after, lead, nil
}

// codexBlock is the lines of jp, behind those before them.
func (l Launch) codexBlock(ctx context.Context, path, home, before string) (string, error) {
	var was struct {
		Hooks map[string]any `toml:"hooks"`
	}
	if err := toml.Unmarshal([]byte(before), &was); err != nil {
		return "", problem.Usage("cannot read %s: %v.", path, err)
	}
	var err error
	if l.Program, err = exec.LookPath("codex"); err != nil {
		return "", problem.New(problem.ExitNotFound, "not_found", "cannot ask codex which hooks it trusts: %v.", err)
	}
	l.Folder = "/"
	var flags, commands, texts []string
	for _, event := range codexEvents {
		command := quoted(l.Own) + installed("codex") + event + quiet
		text, err := encoded(command)
		if err != nil {
			return "", err
		}
		commands, texts = append(commands, command), append(texts, string(text))
		flags = append(flags, "-c", "hooks."+event+"=["+codexHook(text)+"]")
	}
	hooks, err := l.askTrust(ctx, flags, commands)
	if err != nil {
		return "", problem.New(problem.ExitFailed, "failed", "cannot ask codex which hooks it trusts: %v.", err)
	}
	if real, err := filepath.EvalSymlinks(home); err == nil { // Codex has made it by now
		home = real
	}
	groups, trust := "", ""
	for i, event := range codexEvents {
		at := slices.IndexFunc(hooks, func(h listedHook) bool { return h.Command == commands[i] })
		if at < 0 {
			continue // this version has no such event
		}
		parts := strings.Split(hooks[at].Key, ":") // FILE:event:GROUP:HOOK
		list, _ := was.Hooks[event].([]any)
		key, err := encoded(fmt.Sprintf("%s:%s:%d:0", filepath.Join(home, "config.toml"), parts[max(0, len(parts)-3)], len(list)))
		if err != nil {
			return "", err
		}
		groups += fmt.Sprintf("[[hooks.%s]]\nmatcher = \"*\"\nhooks = [{ type = \"command\", command = %s, timeout = %d }]\n", event, texts[i], hookSeconds)
		trust += fmt.Sprintf("[hooks.state.%s]\ntrusted_hash = %q\n", key, hooks[at].CurrentHash)
	}
	return sealed("#", "codex", groups+strings.TrimSuffix(trust, "\n")+codexEnd), nil
}
