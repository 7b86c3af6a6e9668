package worktree

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Status is the result of `git status`.
type Status struct {
	Head     string // commit id; "" before the first commit
	Branch   string // short name; "" if HEAD is detached
	Upstream string // short name, or ""
	Ahead    int    // commits that the upstream lacks
	Behind   int    // commits of the upstream that HEAD lacks
	Entries  []Entry
}

// Kind is the kind of change of an Entry.
type Kind byte

const (
	Ordinary  Kind = '1' // changed in the index or the working tree
	Moved     Kind = '2' // renamed or copied
	Unmerged  Kind = 'u' // in conflict
	Untracked Kind = '?'
	Ignored   Kind = '!'
)

// Entry is one path of a Status. Untracked and ignored ones have only a Path.
type Entry struct {
	Kind      Kind
	Index     byte     // change between HEAD and index: one of .MTADRCU
	Worktree  byte     // change between index and working tree, likewise
	Submodule string   // "N..." or "S<c><m><u>"
	Modes     []string // head, index, worktree; unmerged: three stages, worktree
	OIDs      []string // head, index; unmerged: three stages
	Score     string   // "R100", "C75"; only if Kind is Moved
	Path      string
	From      string // the other path if Kind is Moved
}

// Status looks at all files: it costs what `git status` costs, and includes untracked ones. It does not
// look into submodules.
func (w *Worktree) Status(ctx context.Context) (Status, error) {
	out, err := w.git.RunWith(ctx, contentCommand(
		"status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all"))
	if err != nil {
		return Status{}, fmt.Errorf("read status: %w", err)
	}
	return ParseStatus(out)
}

// Submodules reports whether the repository declares some. Status does not look into them.
func (w *Worktree) Submodules() bool {
	_, err := w.lookup(".gitmodules")
	return err == nil
}

// ParseStatus reads the output of `git status --porcelain=v2 -z`. It skips unknown headers. Any other
// unreadable part is ErrMalformed.
func ParseStatus(out []byte) (Status, error) {
	var s Status
	for len(out) > 0 {
		record, rest, ok := bytes.Cut(out, []byte{0})
		if !ok {
			return Status{}, fmt.Errorf("status: %w: cut short", ErrMalformed)
		}
		line := string(record)
		if header, isHeader := strings.CutPrefix(line, "# "); isHeader {
			s.header(header)
			out = rest
			continue
		}
		entry, rest, err := parseEntry(line, rest)
		if err != nil {
			return Status{}, err
		}
		s.Entries = append(s.Entries, entry)
		out = rest
	}
	return s, nil
}

func (s *Status) header(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch key {
	case "branch.oid":
		s.Head = onlyOID(value)
	case "branch.head":
		if value != "(detached)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-"))
	}
}

// layout says how many modes and ids a kind of line has, and whether a score.
var layout = map[Kind]struct {
	modes, oids int
	score       bool
}{
	Ordinary: {3, 2, false},
	Moved:    {3, 2, true},
	Unmerged: {4, 3, false},
}

// parseEntry reads one line; a moved one takes a second path from rest.
func parseEntry(line string, rest []byte) (Entry, []byte, error) {
	bad := fmt.Errorf("status: %w: %q", ErrMalformed, line)
	if len(line) < 3 || line[1] != ' ' {
		return Entry{}, nil, bad
	}
	e := Entry{Kind: Kind(line[0])}
	if e.Kind == Untracked || e.Kind == Ignored {
		e.Path = line[2:]
		return e, rest, nil
	}
	shape, known := layout[e.Kind]
	if !known {
		return Entry{}, nil, bad
	}
	fixed := 2 + shape.modes + shape.oids
	if shape.score {
		fixed++
	}
	fields := strings.SplitN(line[2:], " ", fixed+1)
	if len(fields) != fixed+1 || len(fields[0]) != 2 || fields[fixed] == "" {
		return Entry{}, nil, bad
	}
	e.Index, e.Worktree, e.Submodule = fields[0][0], fields[0][1], fields[1]
	e.Modes = fields[2 : 2+shape.modes]
	e.OIDs = fields[2+shape.modes : 2+shape.modes+shape.oids]
	e.Path = fields[fixed]
	if !shape.score {
		return e, rest, nil
	}
	e.Score = fields[fixed-1]
	from, rest, ok := bytes.Cut(rest, []byte{0})
	if !ok || len(from) == 0 {
		return Entry{}, nil, bad
	}
	e.From = string(from)
	return e, rest, nil
}
