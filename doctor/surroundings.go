package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"jp/agent/toolset"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/internal/action"
	"jp/sandbox"
)

func (c *checkup) terminal(context.Context) []Finding {
	return c.Terminal(c.repo.Config.Style).Findings()
}

// A Terminal is the output of jp.
type Terminal struct {
	Is     bool // standard output is one
	Width  int
	Colour bool
	Why    string // the reason for missing colours
	UTF8   bool   // by the locale
	Locale string
}

// narrow is the width below which lists leave something out.
const narrow = 60

// Findings judges the terminal.
func (t Terminal) Findings() (all []Finding) {
	colours := "colours"
	if !t.Colour {
		colours = "no colours: " + t.Why
	}
	switch {
	case !t.Is:
		all = append(all, found(OK, "terminal", "standard output is not a terminal; %s", colours))
	case t.Width < narrow:
		all = append(all, found(Note, "terminal", "%d columns, %s; lists leave something out below %d columns", t.Width, colours, narrow))
	default:
		all = append(all, found(OK, "terminal", "%d columns, %s", t.Width, colours))
	}
	if !t.UTF8 {
		locale := "no locale is set"
		if t.Locale != "" {
			locale = "the locale is " + t.Locale
		}
		all = append(all, found(Note, "locale", "%s; jp writes UTF-8 in any case", locale).advise("export LC_ALL=C.UTF-8, or another locale with UTF-8, if letters look wrong"))
	}
	return all
}

func (c *checkup) sandbox(context.Context) []Finding {
	support := sandbox.Supported()
	return Sandbox{
		Off: !c.repo.Config.Sandbox.Enable, Holds: support.Enforced(), Reason: support.Reason, Words: toolset.LandlockWords(support, sandbox.OwnLoopback()),
		Gaps: strings.Join(support.Gaps(c.repo.Config.Sandbox.Network), ", "),
	}.Findings()
}

// A Sandbox is the confinement of tools' programs.
type Sandbox struct {
	Off    bool   // by the configuration
	Holds  bool   // this system can
	Words  string // the restrictions in words
	Reason string // for the lack of restrictions
	Gaps   string // the remaining abilities of programs, or ""
}

// Findings judges the sandbox.
func (s Sandbox) Findings() []Finding {
	switch {
	case s.Off:
		return []Finding{found(Note, "sandbox", "sandbox.enable is off: programs that the model starts may do what you may")}
	case !s.Holds:
		return []Finding{found(Warn, "sandbox", "none: %s. Programs that the model starts may do what you may", s.Reason).
			advise("read what they are before you approve them")}
	case s.Gaps != "":
		return []Finding{found(Note, "sandbox", "%s; on this kernel programs of tools can still %s", s.Words, s.Gaps)}
	}
	return []Finding{found(OK, "sandbox", "%s: programs of tools write to the working tree, temporary files and caches only", s.Words)}
}

// editor checks that the editor's program exists, if its command is plain enough to tell.
func (c *checkup) editor(context.Context) []Finding {
	command, from := c.Editor()
	e := Editor{Command: command, From: from}
	if words := strings.Fields(command); len(words) > 0 && !strings.ContainsAny(words[0], `'"\$~=;&|(`) {
		_, e.Err = exec.LookPath(words[0])
	}
	return e.Findings()
}

// An Editor is the program that questions are written in.
type Editor struct {
	Command string
	From    string // the variable that names it, "" for jp's own choice
	Err     error  // of finding its program
}

// Findings judges the editor.
func (e Editor) Findings() []Finding {
	from := e.From
	if from == "" {
		from = "no variable names another"
	}
	if e.Err != nil {
		return []Finding{found(Note, "editor", "%s cannot be started (%s): %v", e.Command, from, e.Err).advise("%s, for %s", action.SetEditor, action.AskInEditor)}
	}
	return []Finding{found(OK, "editor", "%s (%s)", e.Command, from)}
}

func (c *checkup) identity(ctx context.Context) []Finding {
	user := gitstore.UserIdentity(c.env.Get, func() gitcmd.User {
		user, _, _ := c.repo.Git.User(ctx) // empty if git fails
		return user
	})
	return Identity{Name: user.Name != "", Email: user.Email != ""}.Findings()
}

// An Identity is the user in git's configuration.
type Identity struct {
	Name, Email bool // are known
}

// Findings judges the identity.
func (i Identity) Findings() []Finding {
	what := ""
	switch {
	case !i.Name && !i.Email:
		what = "no name and no e-mail address of yours"
	case !i.Name:
		what = "no name of yours"
	case !i.Email:
		what = "no e-mail address of yours"
	default:
		return []Finding{found(OK, "identity", "git knows who you are")}
	}
	text := fmt.Sprintf("git knows %s; what you do is recorded without", what)
	return []Finding{found(Note, "identity", "%s", text).advise("%s, and user.email …", action.SetUser)}
}
