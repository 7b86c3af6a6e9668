package worktree

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// leaveRefused takes out the paths that git fsck refuses in a tree, also those that someone
// staged: a server would refuse every later push of the conversation.
func (s *snapshot) leaveRefused(ctx context.Context, p *plan, staged []raw) error {
	var failed error
	judge := func(path string, link bool, content func() ([]byte, error)) string {
		fault := gitcmd.FsckName(path)
		if fault == "" && gitcmd.FsckReads(path, link) {
			data, err := content()
			if err == nil {
				fault, err = s.w.git.FsckContent(ctx, path, link, data)
			}
			if err != nil && ctx.Err() == nil {
				return whyNoRead + err.Error()
			} else if err != nil {
				failed = err
			}
		}
		if fault != "" {
			return whyFsck + fault
		}
		return ""
	}
	p.take = slices.DeleteFunc(p.take, func(path string) bool {
		st, err := s.w.lookup(path)
		if err != nil || isDir(st) {
			return false
		}
		link := st.Mode&unix.S_IFMT == unix.S_IFLNK
		why := judge(path, link, func() ([]byte, error) { return s.w.content(path, st) })
		if why != "" {
			p.leave(path, why)
		}
		return why != ""
	})
	for _, r := range staged {
		if _, decided := p.seen[r.path]; decided || !r.claims() || r.status == 'D' {
			continue
		}
		link := r.newMode == modeLink
		why := judge(r.path, link, func() ([]byte, error) { return s.w.git.Run(ctx, "cat-file", "blob", r.newOID) })
		if why != "" && p.first(r.path) {
			p.leave(r.path, why)
		}
	}
	return failed
}

// WhyNotName is the reason, by the name alone, why a snapshot would skip such a file, "" if it would not.
// known says that the tree before has the path.
func WhyNotName(path string, known bool) string {
	switch fault := gitcmd.FsckName(path); {
	case fault != "":
		return whyFsck + fault
	case !known && secretName(path):
		return whySecret
	}
	return ""
}
