package blame

import (
	"cmp"
	"slices"
	"time"
)

// A currentLine is a line of a file that is being explained.
type currentLine struct {
	key    uint64
	weight int
	old    bool      // it belongs to a commit from before all conversations
	commit time.Time // the time of the commit that brought it; zero if uncommitted
	oid    string    // of that commit
}

// A place is a line of a hunk that has the text of a current one.
type place struct {
	record, hunk, line int32
}

// A match is the writer of a current line.
type match struct {
	record *record
	source *source
}

// A run is consecutive current lines that follow each other in one hunk too.
type run struct {
	place
	from, to int  // current lines
	same     bool // the hunk is of the same file
	strong   bool // it says enough to exclude an accident
	copied   bool // it says enough to be a copy of lines in the file
}

const (
	enoughLines  = 3
	enoughWeight = 20 // letters and digits: git's own bound for a line that moved
)

// An authored line is one that an event wrote. Forks have it in common.
type authored struct {
	commit string
	number int32
}

// A matcher finds the writers of the lines of one file.
type matcher struct {
	records []*record
	lines   []currentLine
	paths   map[string]bool // names that the file has had
	now     map[uint64]int  // how often each text stands in the file
	places  map[uint64][]place
	authors map[uint64]map[authored]bool // by text: the lines that events wrote, anywhere
	earlier func(commit, head string) bool
}

func newMatcher(records []*record, lines []currentLine, paths []string) *matcher {
	m := &matcher{
		records: records, lines: lines, paths: map[string]bool{}, now: map[uint64]int{},
		places: map[uint64][]place{}, authors: map[uint64]map[authored]bool{},
	}
	for _, p := range paths {
		m.paths[p] = true
	}
	var sieve [1 << 13]uint64 // the file lacks most lines of the records
	for _, l := range lines {
		m.now[l.key]++
		sieve[l.key>>6&(1<<13-1)] |= 1 << (l.key & 63)
	}
	weights := map[uint64]int{}
	for _, l := range lines {
		weights[l.key] = l.weight
	}
	for n, r := range records {
		for h := range r.hunks {
			for i, l := range r.hunks[h].lines {
				if sieve[l.key>>6&(1<<13-1)]&(1<<(l.key&63)) == 0 {
					continue
				}
				weight, there := weights[l.key]
				if !there || weight == 0 && len(m.places[l.key]) > mostPlaces {
					continue
				}
				m.places[l.key] = append(m.places[l.key], place{int32(n), int32(h), int32(i)})
				if s := r.sourceOf(l); weight > 0 && s != nil && s.Writer != atStart && !r.common(l) {
					if m.authors[l.key] == nil {
						m.authors[l.key] = map[authored]bool{}
					}
					m.authors[l.key][authored{s.Commit, l.number}] = true
				}
			}
		}
	}
	return m
}

// mostPlaces is how many places of one text are followed: a frequent text is no proof by itself, and the
// lines beside it find it.
const mostPlaces = 256

// runs are all runs, each as long as it goes.
func (m *matcher) runs() []run {
	var all []run
	for i, l := range m.lines {
		places := m.places[l.key]
		if len(places) > mostPlaces && l.weight == 0 {
			continue
		}
		for _, p := range places[max(0, len(places)-mostPlaces):] {
			h := m.records[p.record].hunks[p.hunk]
			if i > 0 && p.line > 0 && h.lines[p.line-1].key == m.lines[i-1].key && m.followed(i-1) {
				continue // it is in the run of the line before
			}
			r := run{place: p, from: i, to: i}
			for r.to < len(m.lines) && int(p.line)+r.to-i < len(h.lines) && h.lines[int(p.line)+r.to-i].key == m.lines[r.to].key {
				r.to++
			}
			all = append(all, r)
		}
	}
	return all
}

// followed reports whether runs begin at a line.
func (m *matcher) followed(i int) bool {
	return len(m.places[m.lines[i].key]) <= mostPlaces
}

// judge rates the evidence of a run.
func (m *matcher) judge(r *run) {
	rec := m.records[r.record]
	r.same = m.paths[rec.Paths[rec.hunks[r.hunk].path]]
	unique, weight, all := 0, 0, 0 // all: with the lines around those of the agent
	for i := r.from; i < r.to; i++ {
		l := m.lines[i]
		all += l.weight
		if l.weight == 0 || len(m.authors[l.key]) != 1 || rec.common(rec.hunks[r.hunk].lines[int(r.line)+i-r.from]) {
			continue
		}
		weight += l.weight
		unique += bit(m.now[l.key] == 1)
	}
	whole := r.to-r.from == len(m.lines) && len(m.lines) == len(rec.hunks[r.hunk].lines)
	long := r.to-r.from >= enoughLines || whole && r.same
	r.copied = long && weight >= enoughWeight && all >= 2*enoughWeight
	if r.same {
		r.strong = long || unique > 0
		return
	}
	r.strong = unique > 0 && weight >= enoughWeight || r.copied
}

// match gives the writer of each line. The source is nil if unknown.
func (m *matcher) match() []match {
	runs := m.runs()
	m.adopt(runs)
	for i := range runs {
		m.judge(&runs[i])
	}
	runs = slices.DeleteFunc(runs, func(r run) bool { return !r.strong })
	slices.SortStableFunc(runs, func(a, b run) int {
		return cmp.Or(
			cmp.Compare(a.record, b.record), -cmp.Compare(bit(a.same), bit(b.same)),
			-cmp.Compare(a.to-a.from, b.to-b.from), -cmp.Compare(a.hunk, b.hunk), cmp.Compare(a.from, b.from))
	})
	found := make([]match, len(m.lines))
	taken := make([]int32, len(m.lines)) // the record that said so last, from 1
	type numbered struct{ record, number int32 }
	used := map[numbered]bool{}
	for _, r := range runs {
		rec := m.records[r.record]
		h := rec.hunks[r.hunk]
		for i := r.from; i < r.to; i++ {
			l := h.lines[r.line+int32(i-r.from)]
			at := numbered{r.record, l.number}
			if taken[i] == r.record+1 || used[at] && !r.copied && (m.lines[i].weight < enoughWeight || rec.common(l)) {
				continue
			}
			s := rec.sourceOf(l)
			if s != nil && !m.may(m.lines[i], s) {
				continue // an earlier event of the conversation may have written the line
			}
			taken[i] = r.record + 1
			if s == nil {
				continue
			}
			used[at] = true
			if better(s, found[i].source) {
				found[i] = match{rec, s}
			}
		}
	}
	return found
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// adopt takes a path as a name of the file if half of the file's unique lines come from there.
func (m *matcher) adopt(runs []run) {
	lines := 0
	for _, l := range m.lines {
		lines += bit(l.weight > 0 && m.now[l.key] == 1)
	}
	from := map[string]map[int]bool{}
	for _, r := range runs {
		rec := m.records[r.record]
		path := rec.Paths[rec.hunks[r.hunk].path]
		for i := r.from; i < r.to; i++ {
			if l := m.lines[i]; l.weight == 0 || m.now[l.key] > 1 || len(m.authors[l.key]) > 1 || r.to-r.from < enoughLines ||
				rec.common(rec.hunks[r.hunk].lines[int(r.line)+i-r.from]) {
				continue
			}
			if from[path] == nil {
				from[path] = map[int]bool{}
			}
			from[path][i] = true
		}
	}
	for path, those := range from {
		if 2*len(those) >= lines && lines >= enoughLines {
			m.paths[path] = true
		}
	}
}

// better reports whether a source explains a line more than the one that is known: a tool
// before a person, and the earlier one.
func better(s, known *source) bool {
	if known == nil {
		return true
	}
	rank := func(s *source) int { return bit(s.Writer == byTool)*2 + bit(s.Writer == byUser) }
	if a, b := rank(s), rank(known); a != b {
		return a > b
	}
	return s.Time.Before(known.Time)
}

// may reports whether an event can have written a line: a commit that is older than the event
// keeps its lines.
func (m *matcher) may(l currentLine, s *source) bool {
	switch {
	case l.old:
		return false
	case l.commit.IsZero():
		return true
	case s.Writer != byTool:
		return false // a commit explains an outside change
	case l.commit.Before(s.Time.Truncate(time.Second)):
		return false
	}
	return m.earlier == nil || s.Head == "" || l.commit.After(s.Time.Add(time.Second)) || !m.earlier(l.oid, s.Head)
}
