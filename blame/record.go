package blame

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore/trees"
)

// A writer is the kind of an event that changed a file.
type writer byte

const (
	byUser   writer = iota // an outside change
	byTool                 // the agent
	atStart                // uncommitted when the conversation began
	unproven               // a tool, in a file whose content before it is unknown
)

// A source is an event that changed files.
type source struct {
	Commit string
	Seq    int
	Time   time.Time
	Author string
	Tool   string
	Model  string
	Head   string // the commit of the user at the event
	Writer writer
}

// unknownSource is the number of a line that was there before the conversation.
const unknownSource = -1

// A keyedLine is a line of a file. Its number is that of the line as an event wrote it, and stays the same
// from version to version. It is unknownSource if no event did.
type keyedLine struct {
	key    uint64
	number int32
}

// A hunk is lines that followed each other in a file after an event: those that it changed, and
// some around them.
type hunk struct {
	path  int32
	lines []keyedLine
}

// A record has the lines that one conversation wrote.
type record struct {
	Conversation string // with its remote
	Head         string
	Sources      []source
	Paths        []string
	hunks        []hunk
	written      []written // by the number of the line
	state        string    // with which a recorder goes on
	encoded      []byte    // in the form of the index
}

// written is a source, and whether others had a line of this text before.
type written struct {
	source int32
	common bool
}

// sourceOf is the event that wrote a line, or nil.
func (r *record) sourceOf(l keyedLine) *source {
	if l.number == unknownSource {
		return nil
	}
	return &r.Sources[r.written[l.number].source]
}

// common reports whether others had such a line before, so that it proves nothing.
func (r *record) common(l keyedLine) bool {
	return l.number != unknownSource && r.written[l.number].common
}

const (
	around      = 2       // lines of a hunk on each side of a change
	largest     = 1 << 20 // bytes of a file that is read
	mostLineage = 4 << 20 // lines whose sources stay in memory
	mostRead    = 200_000 // lines of files that stay in memory
)

// A recorder goes through the events of a conversation and makes its record.
type recorder struct {
	trees   trees.Reader
	commit  func(oid string) (*commitText, error)
	made    record
	paths   map[string]int32
	lineage lineage
	files   *contents
	from    copier
	head    string // of the user's branch
	model   string
	ground  string            // the tree before the first event
	before  string            // the tree of the last one
	present map[string]string // the blobs of the files that events changed, by path
	bare    map[uint64]bool   // the agent's lines that weigh nothing
}

// A lineage has the numbers of the lines of versions of files.
type lineage struct {
	of        map[string][]int32 // by blob
	lines     int                // in all of these
	forgotten map[uint64]bool    // other blobs that had lines, by the beginnings of their names
	lost      bool               // an event needed one of these
}

func (r *recorder) begin() {
	r.paths, r.present, r.bare = map[string]int32{}, map[string]string{}, map[uint64]bool{}
	r.lineage = lineage{of: map[string][]int32{}, forgotten: map[uint64]bool{}}
	r.from.others, r.from.mine = map[uint64]bool{}, map[uint64]int32{}
}

// recordOf reads the changes by events. ground is the tree before the first one.
func (r *recorder) recordOf(ctx context.Context, events []*conversation.Event, ground string) (*record, error) {
	r.begin()
	r.ground, r.before = ground, ground
	return r.read(ctx, events)
}

func (r *recorder) read(ctx context.Context, events []*conversation.Event) (*record, error) {
	r.from.ground.move(ctx, r.trees, r.ground)
	defer r.files.forget(r.from.ground.blobs)
	for _, e := range events {
		if start, is := e.Body.(*conversation.TurnStart); is {
			r.model = start.Model
		}
		if e.Tree != r.before {
			if err := r.follow(ctx, e, r.before); err != nil {
				return nil, err
			}
		}
		r.before = e.Tree
		if e.Git != nil && e.Git.Head != "" {
			r.head = e.Git.Head
		}
	}
	made := r.made // the recorder goes
	made.state = r.state()
	return &made, nil
}

// sourceOf is an event as a source; is reports whether its changes have a writer.
func (r *recorder) sourceOf(e *conversation.Event) (s source, is bool) {
	s = source{Commit: e.Commit, Seq: e.Seq, Time: e.Time, Author: e.Author, Head: r.head}
	if e.Git != nil && r.head == "" {
		s.Head = e.Git.Head
	}
	switch body := e.Body.(type) {
	case *conversation.ToolCallResponse:
		s.Writer, s.Tool, s.Model = byTool, body.Name, r.model
	case *conversation.TurnStart:
		s.Writer = atStart
	case *conversation.Workspace, *conversation.Restored, *conversation.Resumed:
		s.Writer = byUser
	default:
		return s, false // the first event of an import explains nothing
	}
	return s, true
}

type changedFile struct {
	trees.Change
	was, now *content
	lineage  []int32 // of was
	from     []int   // for each line the one of was, from 1, or 0
	kept     []bool  // the earlier lines that stayed, from 1
}

func regular(v trees.Version) bool { return v.Mode == trees.ModeFile || v.Mode == trees.ModeExec }

func (r *recorder) follow(ctx context.Context, e *conversation.Event, before string) error {
	changes, err := r.trees.DiffTrees(ctx, before, e.Tree)
	if err != nil {
		return fmt.Errorf("compare the trees of event %d: %w", e.Seq, err)
	}
	s, written := r.sourceOf(e)
	own := int32(unknownSource)
	if written {
		own = int32(len(r.made.Sources))
		r.made.Sources = append(r.made.Sources, s)
	}
	files, gone, err := r.changed(ctx, changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if r.present[c.Path] = c.After.OID; !regular(c.After) {
			delete(r.present, c.Path)
		}
	}
	moved := movedLines(files, gone)
	for _, f := range files {
		if err := r.add(ctx, e, f, s, own, moved[f], before); err != nil {
			return err
		}
	}
	return nil
}

// changed reads the files that changed and those that were deleted, by path. A new file continues
// the deleted one that has most of its lines.
func (r *recorder) changed(ctx context.Context, changes []trees.Change) (files []*changedFile, gone map[string]*changedFile, err error) {
	gone = map[string]*changedFile{}
	for _, c := range changes {
		f := &changedFile{Change: c, was: &content{}, now: &content{}}
		if regular(c.Before) {
			if f.was, err = r.content(ctx, c.Before.OID, nil); err != nil {
				return nil, nil, err
			}
			f.lineage = r.numbers(c.Before.OID, f.was)
		}
		if !regular(c.After) {
			gone[c.Path] = f
			continue
		}
		if f.now, err = r.content(ctx, c.After.OID, f.was); err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	for _, f := range files {
		if f.Before == (trees.Version{}) {
			f.rename(gone)
		}
		f.from = align(f.was.lines, f.now.lines)
	}
	return files, gone, nil
}

// rename takes the file over from the deleted one that has most of its lines, if that are half of
// them.
func (f *changedFile) rename(gone map[string]*changedFile) {
	lines := len(f.now.lines)
	best := 0
	for _, g := range gone {
		same := 0
		if g.Before.OID == f.After.OID {
			same = lines + 1
		} else if n := len(g.was.lines); n >= lines/4 && lines >= n/4 {
			for _, n := range align(g.was.lines, f.now.lines) {
				same += bit(n > 0)
			}
		}
		if same > best && 2*same >= lines {
			best, f.was, f.lineage = same, g.was, g.lineage
		}
	}
}

// movedLines gives each file the numbers of the lines that the event moved there, by their index:
// a line that was taken out once and put in once, and the lines around it that follow each other in both.
func movedLines(files []*changedFile, gone map[string]*changedFile) map[*changedFile]map[int]int32 {
	type spot struct {
		of *changedFile
		at int
	}
	out, in := map[uint64][]spot{}, map[uint64][]spot{}
	for _, f := range slices.Concat(files, slices.Collect(maps.Values(gone))) {
		f.kept = make([]bool, len(f.was.lines)+1)
		for _, n := range f.from {
			f.kept[n] = true
		}
		for i, l := range f.was.lines {
			if !f.kept[i+1] && l.weight > 0 {
				out[l.key] = append(out[l.key], spot{f, i})
			}
		}
		for i, n := range f.from {
			if key := f.now.lines[i].key; n == 0 {
				in[key] = append(in[key], spot{f, i})
			}
		}
	}
	moved := map[*changedFile]map[int]int32{}
	for key, from := range out {
		if len(from) != 1 || len(in[key]) != 1 {
			continue
		}
		g, f := from[0].of, in[key][0].of
		if moved[f] == nil {
			moved[f] = map[int]int32{}
		}
		for _, step := range []int{-1, 1} {
			for i, k := in[key][0].at, from[0].at; i >= 0 && i < len(f.now.lines) && k >= 0 && k < len(g.was.lines) &&
				f.now.lines[i].key == g.was.lines[k].key && f.from[i] == 0 && !g.kept[k+1]; i, k = i+step, k+step {
				moved[f][i] = g.lineage[k]
			}
		}
	}
	return moved
}

// content reads a file, without lines if it is binary or large. like is one that it may resemble.
func (r *recorder) content(ctx context.Context, oid string, like *content) (*content, error) {
	if c := r.files.find(oid); c != nil {
		return c, nil
	}
	data, err := r.trees.Blob(ctx, oid)
	if err != nil {
		return nil, fmt.Errorf("read the file %.10s: %w", oid, err)
	}
	c := &content{}
	if len(data) <= largest && bytes.IndexByte(data, 0) < 0 {
		c = contentOf(unixEnds(string(data)), like)
	}
	r.files.keep(oid, c)
	r.files.news = append(r.files.news, oid)
	return c, nil
}

// contents are files that were read, by blob: at least the last ones with mostRead lines together.
type contents struct {
	files, older map[string]*content
	lines        int      // in files
	news         []string // that were read since forget
}

func (k *contents) find(oid string) *content {
	c := k.files[oid]
	if c == nil && k.older[oid] != nil {
		c = k.older[oid]
		k.keep(oid, c)
	}
	return c
}

func (k *contents) keep(oid string, c *content) {
	if k.lines += len(c.lines); k.files == nil || k.lines > mostRead {
		k.older, k.files, k.lines = k.files, map[string]*content{}, len(c.lines)
	}
	k.files[oid] = c
}

// forget drops versions that only the conversation finds that wrote them, so that the others stay longer.
func (k *contents) forget(found map[string]int32) {
	for _, oid := range k.news {
		if c := k.files[oid]; c != nil && found[oid] == 0 {
			k.lines -= len(c.lines)
			delete(k.files, oid)
		}
	}
	k.news = nil
}

func (r *recorder) numbers(oid string, c *content) []int32 {
	numbers, known := r.lineage.find(oid)
	if !known || len(numbers) != len(c.lines) {
		return slices.Repeat([]int32{unknownSource}, len(c.lines))
	}
	return numbers
}

// add follows one file from its version before an event to the one after it.
func (r *recorder) add(ctx context.Context, e *conversation.Event, f *changedFile, s source, own int32, moved map[int]int32, before string) error {
	lineage, known := r.lineage.find(f.After.OID)
	path, another := r.path(f.Path)
	lines := f.now.lines
	if known && len(lineage) == len(lines) && !typed(e) { // it is back, or at another path
		if another {
			r.cut(path, lines, lineage, [][2]int{{0, len(lines)}})
		}
		return nil
	}
	if s.Writer == byTool && own != unknownSource {
		switch strange, err := r.strange(ctx, e, f); {
		case err != nil:
			return err
		case strange:
			own = unknownSource
		}
	}
	own = r.proven(ctx, e, f.Path, s, own, before)
	agent := own != unknownSource && r.made.Sources[own].Writer == byTool
	program := agent && !typed(e)
	lineage = make([]int32, len(lines))
	begin := 0 // of the new lines that follow each other
	for i, from := range f.from {
		earlier, is := moved[i]
		switch {
		case from > 0:
			lineage[i] = f.lineage[from-1]
		case is:
			lineage[i] = earlier
		default:
			continue
		}
		r.write(lines[begin:i], lineage[begin:i], own, agent, program)
		begin = i + 1
	}
	r.write(lines[begin:], lineage[begin:], own, agent, program)
	var spans [][2]int
	last := 0
	for i := 0; i <= len(lines); i++ {
		next := len(f.was.lines) + 1
		if i < len(lines) {
			next = f.from[i]
		}
		if next != 0 && next == last+1 {
			last = next
			continue
		}
		if next != 0 {
			last = next
		}
		span := [2]int{max(0, i-around), min(len(lines), i+1+around)}
		if n := len(spans) - 1; n >= 0 && span[0] <= spans[n][1] {
			spans[n][1] = span[1]
		} else {
			spans = append(spans, span)
		}
	}
	if another && f.Before == (trees.Version{}) && len(f.was.lines) > 0 {
		spans = [][2]int{{0, len(lines)}} // renamed
	}
	r.cut(path, lines, lineage, spans)
	r.lineage.remember(f.After.OID, lineage)
	return nil
}

// write numbers new lines that follow each other.
func (r *recorder) write(lines []line, numbers []int32, own int32, agent, program bool) {
	var taken []bool // for each line, whether it is someone else's
	if agent {
		taken = r.from.taken(lines, program)
	}
	for i, l := range lines {
		if !agent || taken[i] {
			r.from.keep(l)
		}
		numbers[i] = unknownSource
		if own == unknownSource || agent && taken[i] {
			continue
		}
		if earlier, again := r.from.mine[l.key]; again && program && l.weight >= enoughWeight {
			numbers[i] = earlier // a copy
			continue
		}
		numbers[i] = int32(len(r.made.written))
		r.made.written = append(r.made.written, written{own, agent && r.from.stood(l)})
		switch {
		case agent && l.weight > 0:
			r.from.mine[l.key] = numbers[i]
		case agent:
			r.bare[l.key] = true
		}
	}
}

// proven is the source of the new lines of a file: another one if the tool may not have written them.
func (r *recorder) proven(ctx context.Context, e *conversation.Event, path string, s source, own int32, before string) int32 {
	response, is := e.Body.(*conversation.ToolCallResponse)
	if !is || own == unknownSource {
		return own
	}
	unrecorded := slices.Contains(repo.Unquoted(response.Unrecorded), path)
	if !unrecorded && response.UnrecordedMore > 0 {
		was, err := trees.Find(ctx, r.trees, before, path)
		unrecorded = err == nil && was == (trees.Version{})
	}
	if !unrecorded {
		return own
	}
	s.Writer = unproven
	r.made.Sources = append(r.made.Sources, s)
	return int32(len(r.made.Sources) - 1)
}

// typed reports whether the model wrote new lines itself. Other tools may copy them.
func typed(e *conversation.Event) bool {
	response, is := e.Body.(*conversation.ToolCallResponse)
	return is && (response.Name == "fs_create_file" || response.Name == "fs_modify_file")
}

// strange reports whether a tool only brought a file: as a copy of an existing one, or from a commit that is
// older than the call.
func (r *recorder) strange(ctx context.Context, e *conversation.Event, f *changedFile) (bool, error) {
	if f.Before == (trees.Version{}) && r.from.ground.blobs[f.After.OID] > 0 && !typed(e) {
		return true, nil
	}
	if e.Git == nil || e.Git.Head == "" || e.Git.Head == r.head || r.commit == nil {
		return false, nil
	}
	began := e.Time
	if response, is := e.Body.(*conversation.ToolCallResponse); is {
		began = began.Add(-time.Duration(response.DurationMS) * time.Millisecond)
	}
	head, err := r.commit(e.Git.Head)
	if err != nil {
		return false, nil // it is gone
	}
	for _, oid := range append([]string{e.Git.Head}, head.parents...) {
		c, err := r.commit(oid)
		if err != nil || oid == r.head || !c.authored.Before(began.Truncate(time.Second)) {
			continue
		}
		there, err := trees.Find(ctx, r.trees, c.tree, f.Path)
		if err != nil || there.OID == f.After.OID {
			return err == nil, err
		}
	}
	return false, nil
}

// path is the number of a path, and whether it is a new one.
func (r *recorder) path(path string) (n int32, another bool) {
	n, known := r.paths[path]
	if !known {
		n = int32(len(r.made.Paths))
		r.paths[path], r.made.Paths = n, append(r.made.Paths, path)
	}
	return n, !known
}

// cut adds hunks of a file that have a line with a source.
func (r *recorder) cut(path int32, lines []line, lineage []int32, spans [][2]int) {
	for _, span := range spans {
		if !slices.ContainsFunc(lineage[span[0]:span[1]], func(s int32) bool { return s != unknownSource }) {
			continue
		}
		h := hunk{path: path, lines: make([]keyedLine, 0, span[1]-span[0])}
		for i := span[0]; i < span[1]; i++ {
			h.lines = append(h.lines, keyedLine{lines[i].key, lineage[i]})
		}
		r.made.hunks = append(r.made.hunks, h)
	}
}

func (l *lineage) remember(oid string, numbers []int32) {
	if l.lines += len(numbers); l.lines > mostLineage {
		clear(l.of)
		clear(l.forgotten)
		l.lines = len(numbers)
	}
	l.of[oid] = numbers
}

// find gives the numbers of the lines of a blob.
func (l *lineage) find(oid string) ([]int32, bool) {
	numbers, known := l.of[oid]
	l.lost = l.lost || !known && l.forgotten[beginning(oid)]
	return numbers, known
}
