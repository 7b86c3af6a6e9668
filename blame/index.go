package blame

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safefile"
)

// indexMagic is the version of the records: it changes if the same events give another record.
const indexMagic = "jp-blame 3\n"

// mostMemory is how much memory jp uses while it reads all conversations, if that is enough: each
// file that it reads is soon garbage.
const mostMemory = 110 << 20

// An Index has the lines that the conversations of a repository wrote. Its file is in the folder of jp, is
// checked by the user's key, and can be deleted.
type Index struct {
	repo    *repo.Repo
	records []*record
	files   contents         // that were read last
	ground  standing         // at the beginning of the conversation that was read last
	Left    map[string]error // unreadable conversations
}

// OpenIndex reads the index and brings it up to date: it reads the events of the conversations
// whose newest event is another one.
func OpenIndex(ctx context.Context, r *repo.Repo) (*Index, error) {
	x := &Index{repo: r, Left: map[string]error{}}
	own := r.StateDir()
	own.Told = nil // the events say the same
	kept := map[string]*record{}
	if data, err := own.ReadSealed(repo.LinesFolder, repo.LinesFile); err == nil {
		for _, rec := range decodeIndex(data) {
			kept[rec.Conversation] = rec
		}
	}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, mostMemory))
	defer debug.SetMemoryLimit(before)
	parts, changed := [][]byte{[]byte(indexMagic)}, false
	var damaged []*record
	for _, scope := range []conversation.Scope{conversation.ScopeLive, conversation.ScopeArchived, conversation.ScopeRemotes} {
		heads, err := r.Store.Heads(scope)
		if err != nil {
			return nil, fmt.Errorf("list the conversations: %w", err)
		}
		for _, i := range heads {
			if rec := kept[i.Name()]; rec != nil && rec.Head == string(i.Head) {
				parts = append(parts, rec.encoded)
				x.records = append(x.records, rec)
				continue
			}
			rec, err := x.read(ctx, i, kept[i.Name()])
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if rec != nil {
				rec.Conversation = i.Name()
			}
			switch {
			case err != nil: // the part before the damage counts, and jp reads it again the next time
				x.Left[i.Name()] = err
				if rec != nil {
					damaged = append(damaged, rec)
				}
			case rec != nil:
				rec.Head, changed = string(i.Head), true
				parts = append(parts, encodeRecord(rec))
			}
		}
	}
	if changed || len(kept) > len(x.records) {
		data := joinRecords(parts)
		x.records, kept, parts = nil, nil, nil                                                          // they go before the new ones are made
		_ = own.ReplaceSealed(repo.LinesFolder, repo.LinesFile, data, safefile.Options{Volatile: true}) // it only saves time
		x.records = decodeIndex(data)
	}
	x.records = append(x.records, damaged...)
	return x, nil
}

// recorder is one for the next conversation.
func (x *Index) recorder() recorder {
	return recorder{trees: x.repo.Trees, commit: x.readCommit, files: &x.files, from: copier{ground: &x.ground}}
}

// read makes the record of a conversation from its events, or from those before damage. was is an earlier one, or nil.
func (x *Index) read(ctx context.Context, i conversation.Info, was *record) (*record, error) {
	if was != nil {
		if made := x.goOn(ctx, i, was); made != nil {
			return made, nil
		}
	}
	events, err := x.repo.Store.LoadOutline(ctx, i.Head)
	if err != nil {
		err = repo.AboutInfo(err, i)
	}
	if len(events) == 0 {
		return nil, err
	}
	ground := x.repo.Git.Repository().ObjectFormat.EmptyTree()
	if first, err := x.readCommit(events[0].Commit); err == nil && len(first.parents) > 0 {
		if base, err := x.readCommit(first.parents[0]); err == nil {
			ground = base.tree
		}
	}
	from := x.recorder()
	made, wrong := from.recordOf(ctx, events, ground)
	return made, cmp.Or(err, wrong)
}

var errNoCommit = errors.New("it is no commit")

type commitText struct {
	tree           string
	parents        []string
	authored, made time.Time
	message        string
}

func (c *commitText) subject() string {
	line, _, _ := strings.Cut(strings.TrimLeft(c.message, "\n"), "\n")
	return line
}

func (x *Index) readCommit(oid string) (*commitText, error) {
	kind, data, err := x.repo.Store.ReadObject(oid)
	if err == nil && kind != "commit" {
		err = errNoCommit
	}
	if err != nil {
		return nil, fmt.Errorf("read %.10s: %w", oid, err)
	}
	headers, message, _ := strings.Cut(string(data), "\n\n")
	c := &commitText{message: message}
	for line := range strings.Lines(headers) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author":
			c.authored = timeOf(value)
		case "committer":
			c.made = timeOf(value)
		}
	}
	return c, nil
}

func timeOf(person string) time.Time {
	words := strings.Fields(person)
	if len(words) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(words[len(words)-2], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

func encodeRecord(r *record) []byte {
	data := appendTexts(nil, r.Conversation, r.Head)
	data = binary.AppendUvarint(data, uint64(len(r.Paths)))
	data = appendTexts(data, r.Paths...)
	data = binary.AppendUvarint(data, uint64(len(r.Sources)))
	for _, s := range r.Sources {
		data = appendTexts(data, s.Commit, s.Author, s.Tool, s.Model, s.Head)
		data = append(binary.AppendUvarint(data, uint64(s.Seq)), byte(s.Writer))
		data = binary.LittleEndian.AppendUint64(data, uint64(s.Time.UnixNano()))
	}
	data = binary.AppendUvarint(data, uint64(len(r.written)))
	for _, w := range r.written {
		data = binary.AppendUvarint(data, uint64(w.source)<<1|uint64(bit(w.common)))
	}
	lines := 0
	for _, h := range r.hunks {
		lines += len(h.lines)
	}
	data = binary.AppendUvarint(data, uint64(lines))
	data = binary.AppendUvarint(data, uint64(len(r.hunks)))
	for _, h := range r.hunks {
		data = binary.AppendUvarint(data, uint64(h.path))
		data = binary.AppendUvarint(data, uint64(len(h.lines)))
		for _, l := range h.lines {
			data = binary.LittleEndian.AppendUint64(data, l.key)
			data = binary.AppendUvarint(data, uint64(l.number+1))
		}
	}
	return slices.Clip(appendTexts(data, r.state))
}

// joinRecords makes the file of records: the first part is its beginning.
func joinRecords(parts [][]byte) []byte {
	data := slices.Concat(append(parts, make([]byte, 4))...)
	binary.LittleEndian.PutUint32(data[len(data)-4:], crc32.ChecksumIEEE(data[:len(data)-4]))
	return data
}

func appendTexts(data []byte, texts ...string) []byte {
	for _, text := range texts {
		data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
	}
	return data
}

// An indexDecoder reads the output of encodeIndex. It fails for good at the first wrong number.
type indexDecoder struct {
	data   []byte // the rest
	words  string // all data, of which each text is a part: one copy is less work than many
	failed bool
}

func (d *indexDecoder) number(below int) int {
	if len(d.data) > 0 && d.data[0] < 0x80 && int(d.data[0]) < below { // most are
		n := int(d.data[0])
		d.data = d.data[1:]
		return n
	}
	n, size := binary.Uvarint(d.data)
	if size <= 0 || n >= uint64(below) {
		d.failed, d.data = true, nil
		return 0
	}
	d.data = d.data[size:]
	return int(n)
}

// count is how many elements follow, of at least so many bytes.
func (d *indexDecoder) count(bytes int) int { return d.number(len(d.data)/bytes + 1) }

func (d *indexDecoder) take(n int) []byte {
	if n > len(d.data) {
		d.failed, d.data = true, nil
		return make([]byte, n)
	}
	part := d.data[:n]
	d.data = d.data[n:]
	return part
}

func (d *indexDecoder) text() string {
	n := d.count(1)
	begin := len(d.words) - len(d.data)
	return d.words[begin : begin+len(d.take(n))]
}

// decodeIndex reads records. It returns none for a damaged file or another format.
func decodeIndex(data []byte) (records []*record) {
	body, ours := bytes.CutPrefix(data, []byte(indexMagic))
	if !ours || len(body) < 4 || binary.LittleEndian.Uint32(body[len(body)-4:]) != crc32.ChecksumIEEE(data[:len(data)-4]) {
		return nil
	}
	body = body[:len(body)-4]
	d := indexDecoder{data: body, words: string(body)}
	for len(d.data) > 0 && !d.failed {
		begin := d.data
		r := &record{Conversation: d.text(), Head: d.text(), Paths: make([]string, d.count(1))}
		for i := range r.Paths {
			r.Paths[i] = d.text()
		}
		r.Sources = make([]source, d.count(15))
		for i := range r.Sources {
			s := &r.Sources[i]
			s.Commit, s.Author, s.Tool, s.Model, s.Head = d.text(), d.text(), d.text(), d.text(), d.text()
			s.Seq, s.Writer = d.number(math.MaxInt32), writer(d.take(1)[0])
			s.Time = time.Unix(0, int64(binary.LittleEndian.Uint64(d.take(8)))).UTC()
		}
		r.written = make([]written, d.count(1))
		for i := range r.written {
			n := d.number(2 * len(r.Sources))
			r.written[i] = written{int32(n >> 1), n&1 > 0}
		}
		lines := make([]keyedLine, d.count(9)) // of all hunks
		r.hunks = make([]hunk, d.count(2))
		for i := range r.hunks {
			h := &r.hunks[i]
			h.path = int32(d.number(len(r.Paths)))
			n := d.number(len(lines) + 1)
			h.lines, lines = lines[:n:n], lines[n:]
			for k := range h.lines {
				h.lines[k] = keyedLine{binary.LittleEndian.Uint64(d.take(8)), int32(d.number(len(r.written)+1)) - 1}
			}
		}
		r.state = d.text()
		r.encoded = begin[:len(begin)-len(d.data)]
		records = append(records, r)
	}
	if d.failed {
		return nil
	}
	return records
}
