package doctor

import (
	"context"
	"errors"
	"syscall"

	"jp/gitcmd"
)

// moreFiles is the way out where a process may have too few files open.
const moreFiles = "ulimit -n 256, or more"

// TooFewFiles reports whether an error is that, and what to do about it.
func TooFewFiles(err error) (advice string, ok bool) {
	return moreFiles, errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func (c *checkup) git(ctx context.Context) []Finding {
	version, err := gitcmd.Version(ctx, gitcmd.Options{Environ: c.env.Environ})
	var exit *gitcmd.ExitError
	return Git{Version: version, Old: errors.Is(err, gitcmd.ErrGitTooOld), Ran: errors.As(err, &exit), Err: err}.Findings()
}

// Git is the git program. The zero value was not found.
type Git struct {
	Version string // "" where there is none
	Old     bool   // jp cannot work with it
	Ran     bool   // it is there, and fails
	Err     error  // why its version is not known
}

// Findings judges git.
func (g Git) Findings() []Finding {
	advice, few := TooFewFiles(g.Err)
	switch {
	case g.Old:
		return []Finding{found(Fail, "git", "git %s is too old: jp could not make events durable or take snapshots", g.Version).
			advise("install git 2.36 or newer")}
	case g.Err != nil && g.Ran:
		return []Finding{found(Fail, "git", "%v", g.Err).advise("mend what git names; until then nothing of git's runs")}
	case few:
		return []Finding{found(Fail, "git", "%v", g.Err).advise("%s", advice)}
	case g.Err != nil:
		return []Finding{found(Fail, "git", "%v", g.Err).advise("install git 2.36 or newer, and have it in PATH")}
	}
	return []Finding{found(OK, "git", "git %s", g.Version)}
}
