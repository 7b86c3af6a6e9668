package doctor

import (
	"errors"
	"io/fs"
	"strings"

	"jp/agent/action"
)

// Config is what was read of the configuration.
type Config struct {
	Files     []string // that were read
	Mistake   error    // why the configuration is not used
	Unusable  []error  // settings that were read, and that turns cannot work with
	Idle      []error  // settings that were read, and do nothing
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
	for _, idle := range c.Idle {
		all = append(all, found(Note, "config", "%v", idle).advise("mend it, or take it out"))
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

// lines are the lines of an error, of nil none.
func lines(err error) (all []string) {
	if err == nil {
		return nil
	}
	for line := range strings.Lines(err.Error()) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// A Private is a file or folder that only the user may read.
type Private struct {
	Path string
	Mode fs.FileMode
	Err  error // why it is of no use; fs.ErrNotExist where there is none
}

// exposed reports whether others may use it.
func (p Private) exposed() bool { return p.Err == nil && p.Mode.Perm()&0o077 != 0 }

// A Key is the file by which this user's events are known.
type Key struct {
	Private
	Unmade error // why there is none and none can be made
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

// A Vault is where the values of secrets are kept.
type Vault struct {
	Private
	Off bool // nothing is replaced
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
