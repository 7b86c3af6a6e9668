package doctor

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/internal/safefile"

	"golang.org/x/sys/unix"

	"jp/config"
	"jp/conversation"
	"jp/gitstore"
	"jp/hooks"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/turnloop"
)

func (c *checkup) configuration(context.Context) []Finding {
	r := c.repo
	found := Config{Mistake: r.Wrong, HeldBack: r.HeldBack(), Untrusted: r.Report.Untrusted()}
	if c.pathsErr != nil {
		found.Mistake = c.pathsErr
	}
	if found.Mistake == nil {
		wrong, idle := c.Mistakes(r)
		for _, mistake := range wrong {
			found.Unusable = append(found.Unusable, mistake)
		}
		for _, setting := range idle {
			found.Idle = append(found.Idle, setting)
		}
	}
	if found.Mistake == nil {
		found.Policy = r.Config.Policy
		for _, point := range slices.Sorted(maps.Keys(r.Config.Hooks)) {
			if err := hooks.CheckProgram(r.Config.Hooks[point], c.hookDir()); err != nil {
				found.Hooks = append(found.Hooks, Hook{point, err})
			}
		}
	}
	if found.Untrusted {
		found.HeldBack = found.HeldBack[:len(found.HeldBack)-1] // the last one is the advice
	}
	for _, file := range []string{r.Paths.UserFile, r.Standings().OwnFile()} {
		if safefile.IsRegular(file) {
			found.Files = append(found.Files, file)
		}
	}
	if r.At.TopLevel != "" && safefile.IsRegular(filepath.Join(r.At.TopLevel, filepath.FromSlash(config.WorkspaceFile))) {
		found.Files = append(found.Files, config.WorkspaceFile)
	}
	return found.Findings()
}

func (c *checkup) hookDir() string {
	if c.found.Err != nil {
		return c.dir
	}
	return c.repo.Place()
}

// A Hook is a command of the configuration that fails to start.
type Hook struct {
	Point string
	Err   error // why
}

// finding judges the hook: if a hook before a tool fails to start, it denies the tool.
func (h Hook) finding() Finding {
	f := found(Warn, "config", "the %s hook cannot be started: %v", h.Point, h.Err)
	if h.Point == string(hooks.ToolPre) {
		f = found(Fail, "config", "the %s hook cannot be started: %v; every tool is denied", h.Point, h.Err)
	}
	var program *hooks.ProgramError
	if errors.As(h.Err, &program) && errors.Is(h.Err, hooks.ErrNotExecutable) {
		return f.advise("chmod +x %s", safetext.Escape(program.File))
	}
	return f.advise("make the program, or take out hooks.%s", h.Point)
}

// Config has the facts about the configuration.
type Config struct {
	Files     []string // that were read
	Mistake   error    // why the configuration is not used
	Unusable  []error  // settings that were read, and that turns cannot work with
	Hooks     []Hook   // that cannot be started
	Idle      []error  // settings that were read, and do nothing
	Policy    config.Policy
	HeldBack  []string // what was read and has no effect, with the reason
	Untrusted bool     // approving the workspace's file would give some of it effect
}

// Findings judges the configuration.
func (c Config) Findings() (all []Finding) {
	for _, line := range lines(c.Mistake) {
		all = append(all, found(Fail, "config", "%s", line).advise("mend it; until then no turn runs"))
	}
	for _, unusable := range c.Unusable {
		all = append(all, found(Fail, "config", "%v", unusable).advise("mend it; until then turns that need it do not run"))
	}
	switch {
	case len(all) > 0:
	case len(c.Files) == 0:
		all = append(all, found(OK, "config", "no file; the defaults are in force"))
	default:
		all = append(all, found(OK, "config", "read: %s", strings.Join(c.Files, ", ")))
	}
	for _, hook := range c.Hooks {
		all = append(all, hook.finding())
	}
	for _, idle := range c.Idle {
		all = append(all, found(Note, "config", "%v", idle).advise("mend it, or take it out"))
	}
	var where []string
	add := func(n int, noun string) {
		if n > 0 {
			where = append(where, conversation.Count(n, noun))
		}
	}
	add(len(c.Policy.Allow), "command")
	add(len(c.Policy.AllowEdits), "edit folder")
	add(len(c.Policy.AllowTools), "tool")
	if words := strings.Join(where, ", "); words != "" {
		all = append(all, found(Note, "config", "allow rules run without a question: %s", words).advise("%s lists them", action.ShowPolicy))
	}
	for _, rule := range c.Policy.Allow {
		if program := turnloop.BroadRule(rule); program != "" {
			all = append(all, found(Warn, "config", "policy.allow has %s: that is every program that %s can run", safetext.EscapeAll(rule), safetext.Show(program)).
				advise("end the rule behind the program that is meant"))
		}
	}
	for i, line := range c.HeldBack {
		held := found(Note, "config", "%s", line)
		if c.Untrusted && i == len(c.HeldBack)-1 {
			held = held.advise("%s shows what the file asks for, and approves it", action.Trust)
		}
		all = append(all, held)
	}
	return all
}

// secrets looks at the files that are for the user alone.
func (c *checkup) secrets(context.Context) []Finding {
	if c.pathsErr != nil {
		return nil
	}
	key := Key{Private: private(c.repo.KeyFile())}
	switch {
	case key.Err == nil:
		_, key.Err = gitstore.LoadKey(key.Path)
	case errors.Is(key.Err, fs.ErrNotExist):
		key.Unmade = cannotMake(key.Path)
	}
	vault := Vault{Private: private(filepath.Join(c.repo.Paths.StateDir, "secrets")), Off: !c.repo.Config.Secrets.Redact}
	return append(key.Findings(), vault.Findings()...)
}

// cannotMake is the error of making a file, with the folders above it.
func cannotMake(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		_, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if err == nil {
			err = unix.Access(dir, unix.W_OK|unix.X_OK)
		}
		if err != nil {
			return &fs.PathError{Op: "write to", Path: dir, Err: err}
		}
		return nil
	}
}

// private gathers the facts about a private file or folder.
func private(path string) Private {
	info, err := os.Stat(path)
	if err != nil {
		return Private{Path: path, Err: err}
	}
	if info.IsDir() {
		_, err = os.ReadDir(path)
	}
	return Private{Path: path, Mode: info.Mode() & (fs.ModePerm | fs.ModeType), Err: err}
}

// A Private is a file or folder that only the user may read.
type Private struct {
	Path string
	Mode fs.FileMode
	Err  error // of using it; fs.ErrNotExist if there is none
}

// exposed reports whether others may use it.
func (p Private) exposed() bool { return p.Err == nil && p.Mode.Perm()&0o077 != 0 }

// A Key is the file by which this user's events are known.
type Key struct {
	Private
	Unmade error // of making the missing file
}

// Findings judges the key.
func (k Key) Findings() []Finding {
	switch {
	case k.Unmade != nil:
		return []Finding{found(Fail, "key", "no key at %s, and none can be made: %v; nothing can be written without it", k.Path, k.Unmade).
			advise("make the folder writable, or set XDG_STATE_HOME to one that is")}
	case errors.Is(k.Err, fs.ErrNotExist):
		return []Finding{found(Note, "key", "no key yet at %s; the first turn makes one. Conversations that another key signed can be read, and forked", k.Path)}
	case errors.Is(k.Err, fs.ErrPermission):
		return []Finding{found(Fail, "key", "the key cannot be read: %v; every conversation is taken for someone else's", k.Err).advise("make it readable for you")}
	case k.Err != nil:
		return []Finding{found(Fail, "key", "%v", k.Err).advise("bring it back from a backup, or move it away: then what it signed can be read and forked only")}
	case k.exposed():
		return []Finding{found(Warn, "key", "others may read %s: its mode is %04o. With it they can pass their events off as yours", k.Path, k.Mode.Perm()).advise("chmod 600 %s", k.Path)}
	}
	return []Finding{found(OK, "key", "%s, for you alone", k.Path)}
}

// A Vault is the file for the values of secrets.
type Vault struct {
	Private
	Off bool // secrets stay in the text
}

// Findings judges the vault.
func (v Vault) Findings() []Finding {
	switch {
	case v.exposed():
		return []Finding{found(Warn, "secrets", "others may look into %s: its mode is %04o", v.Path, v.Mode.Perm()).advise("chmod 700 %s", v.Path)}
	case v.Off:
		return []Finding{found(Note, "secrets", "secrets.redact is off: what looks like a password, key or token is recorded and sent as it stands")}
	case errors.Is(v.Err, fs.ErrNotExist):
		return []Finding{found(OK, "secrets", "are replaced before anything is recorded or sent; none was found yet")}
	case v.Err != nil:
		return []Finding{found(Warn, "secrets", "their values cannot be read: %v. Tools get placeholders in their place", v.Err)}
	}
	return []Finding{found(OK, "secrets", "are replaced before anything is recorded or sent; their values are in %s, for you alone", v.Path)}
}
