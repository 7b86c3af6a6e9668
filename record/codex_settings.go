package record

import (
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

// Comments around the lines of jp in the settings of Codex. The last one is behind a value, since Codex moves a comment at
// the end of the file behind the tables that it adds.
const (
	codexBegin = "# jp record install codex: begin "
	codexEnd   = " # jp record install codex: end\n"
)

// codexSettings plans to put jp's hooks into the user's settings of Codex, with the trust in them.
func codexSettings(ctx context.Context, l Launch, remove bool) (c SettingsChange, err error) {
	if l.Folder != "" {
		return c, problem.Usage("Codex runs a hook of a project only after each user has trusted it. Use your own settings, without --project.")
	}
	home := filepath.Join(l.Getenv("HOME"), ".codex")
	if given := l.Getenv("CODEX_HOME"); given != "" {
		home = given
		if real, err := filepath.EvalSymlinks(given); err == nil {
			home = real // as Codex names it
		}
	}
	if c, err = settingsIn(filepath.Join(home, "config.toml")); err != nil {
		return c, err
	}
	p, err := partsOf(c)
	if err != nil {
		return c, err
	}
	if remove {
		if p.after != "" && p.before != "" && !strings.HasSuffix(p.before, "\n") {
			p.before += "\n" // which Codex needs before what it added
		}
		if c.After = []byte(p.before + p.after); p.before+p.after+p.lead == "" {
			c.After = nil // there was no file
		}
		return c, nil
	}
	block, err := l.codexBlock(ctx, c.Path, home, p.before)
	if err != nil {
		return c, err
	}
	if c.After = []byte(p.before + p.lead + block + p.after); block == p.own {
		c.After = c.Before
	}
	var all any
	if err := toml.Unmarshal(c.After, &all); err != nil {
		return c, problem.Usage("cannot add the hooks of jp to %s (want [[hooks.EVENT]] there): %v.", c.Path, err)
	}
	return c, nil
}

// codexParts are jp's own lines in the settings of Codex, and the text around them. lead is the line end before them.
type codexParts struct{ before, lead, own, after string }

func partsOf(c SettingsChange) (p codexParts, err error) {
	text := string(c.Before)
	from, to := strings.Index(text, codexBegin), strings.Index(text, codexEnd)
	switch {
	case c.Before == nil:
		return p, nil
	case from < 0 && to < 0:
		return codexParts{before: text, lead: "\n"}, nil
	case from < 0 || to < from:
		return p, errUnsealed(c.Path, "The lines of jp record install")
	}
	to += len(codexEnd)
	mine := true
	for line := range strings.Lines(text[from:to]) {
		if line[0] == '[' { // Codex may have added a table
			mine = strings.HasPrefix(strings.TrimLeft(line, "["), "hooks.")
		}
		if mine && line != "\n" {
			p.own += line
		} else {
			p.after += line
		}
	}
	p.after += text[to:]
	next := strings.TrimSpace(p.after) + "["
	if !isSealed("#", "codex", p.own) || next[0] != '[' && next[0] != '#' { // which is a value of the last table
		return p, errUnsealed(c.Path, "The lines of jp record install")
	}
	p.before = text[:from]
	if before, found := strings.CutSuffix(p.before, "\n"); found {
		p.before, p.lead = before, "\n"
	}
	return p, nil
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
