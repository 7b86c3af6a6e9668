package doctor

import (
	"context"
	"errors"
	"syscall"

	"jp/gitcmd"
)

// moreFiles is the advice for a process that may open too few files.
const moreFiles = "ulimit -n 256, or more"

// TooFewFiles reports whether an error means that, and the advice.
func TooFewFiles(err error) (advice string, ok bool) {
	return moreFiles, errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func (c *checkup) git(ctx context.Context) []Finding {
	version, err := gitcmd.Version(ctx, gitcmd.Options{Environ: c.env.Environ})
	var exit *gitcmd.ExitError
	return Git{Version: version, Old: errors.Is(err, gitcmd.ErrGitTooOld), Ran: errors.As(err, &exit), Err: err}.Findings()
}

// Git is the git program. The zero value means that it is missing.
type Git struct {
	Version string // "" if it is missing
	Old     bool   // too old for jp
	Ran     bool   // it exists, and fails
	Err     error  // of asking for its version
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
