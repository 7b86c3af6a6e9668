package worktree

import (
	"context"
	"slices"

	"golang.org/x/sys/unix"
)

// mostInspected is how large a file may be whose content Options.Inspect is
// asked about, in bytes.
const mostInspected = 1 << 20

// leaveInspected takes out the paths whose new content must stay unstored.
func (s *snapshot) leaveInspected(ctx context.Context, p *plan) {
	if s.w.opts.Inspect == nil {
		return
	}
	p.take = slices.DeleteFunc(p.take, func(path string) bool {
		st, err := s.w.lookup(path)
		if err != nil || isDir(st) {
			return false
		}
		was := func() []byte {
			data, err := s.w.git.Run(ctx, "cat-file", "blob", s.parent+":"+path)
			if err != nil {
				return nil // it is new
			}
			return data
		}
		why := s.w.inspect(path, st, was)
		if why != "" {
			p.leave(path, why)
		}
		return why != ""
	})
}

// inspect returns the reason why the content of a path must not be stored, "" if it may. It asks for the
// content before only if needed.
func (w *Worktree) inspect(path string, st *unix.Stat_t, was func() []byte) (why string) {
	if w.opts.Inspect == nil || !recordable(st) || st.Size > mostInspected {
		return ""
	}
	is, err := w.content(path, st)
	if err != nil {
		return ""
	}
	if why = w.opts.Inspect(path, nil, is); why == "" {
		return ""
	}
	if before := was(); before != nil {
		return w.opts.Inspect(path, before, is)
	}
	return why
}
