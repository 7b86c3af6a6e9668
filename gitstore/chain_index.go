package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"sort"

	"jp/conversation"
	"jp/gitstore/odb"
	"jp/internal/safefile"
)

const (
	// indexStep is how many events lie between two entries of a chain index.
	indexStep = 64
	// walkedAnyway is how many events below a head are found without an index: reading so
	// many costs less than starting a command.
	walkedAnyway = 4 * indexStep

	indexMagic = "jp-index 2\n"
)

// A chainIndex names some events of one chain, oldest first, so that an event in the middle is found
// without reading all later ones.
//
// A commit fixes all commits before it. So an index stays true when the ref changes, and it holds for a
// head if the walk from that head meets one of its entries. Its file carries a code by the user's key, as
// only this user's jp makes it, after walking from entry to entry.
type chainIndex []indexEntry

// An indexEntry is an event's number and its commit.
type indexEntry struct {
	seq int
	oid odb.OID
}

// at is the position of an event's entry, or of the first one above it.
func (x chainIndex) at(seq int) (i int, found bool) {
	return slices.BinarySearchFunc(x, seq, func(e indexEntry, seq int) int { return e.seq - seq })
}

// An indexFile is the file of a chain's index. It also has the summary of all events up to a head, if jp
// cannot rely on the one in the head's own commit.
type indexFile struct {
	index   chainIndex
	head    odb.OID // "" without a summary
	summary []byte
}

// readIndex reads a conversation's index. If it is damaged, or not by this user's key, it
// counts as empty.
func (s *sidecars) readIndex(of conversation.Info) (x indexFile) {
	data, err := safefile.ReadRegular(s.path(of) + indexSuffix)
	if err != nil || len(data) < sha256.Size {
		return indexFile{}
	}
	body, code := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	sum := s.commits.mac.sum(body)
	rest, ok := bytes.CutPrefix(body, []byte(indexMagic))
	width, size := int(s.ids), 0
	if ok = ok && hmac.Equal(sum[:], code) && len(rest) >= 4; ok {
		size, rest = int(binary.BigEndian.Uint32(rest)), rest[4:]
	}
	if size > 0 && size >= width && size <= len(rest) {
		x.head, x.summary = odb.OID(hex.EncodeToString(rest[:width])), rest[width:size]
	}
	if !ok || size > len(rest) || (len(rest)-size)%(4+width) != 0 {
		return indexFile{}
	}
	for entries := rest[size:]; len(entries) > 0; entries = entries[4+width:] {
		x.index = append(x.index, indexEntry{int(binary.BigEndian.Uint32(entries)), odb.OID(hex.EncodeToString(entries[4 : 4+width]))})
	}
	return x
}

func (s *sidecars) writeIndex(of conversation.Info, x indexFile) {
	var whole []byte
	if x.head != "" {
		id := idOf(x.head)
		whole = append(append(whole, id[:s.ids]...), x.summary...)
	}
	data := append(binary.BigEndian.AppendUint32([]byte(indexMagic), uint32(len(whole))), whole...)
	for _, e := range x.index {
		id := idOf(e.oid)
		data = append(binary.BigEndian.AppendUint32(data, uint32(e.seq)), id[:s.ids]...)
	}
	sum := s.commits.mac.sum(data)
	path := s.path(of) + indexSuffix
	err := safefile.MakeFolders(filepath.Dir(path), 0o777, s.git.Share)
	if err == nil {
		err = safefile.Replace(path, append(data, sum[:]...), safefile.Options{FolderMode: 0o777, Volatile: true})
	}
	if err != nil && s.log != nil {
		s.log.Debug("finding an event is slower than it could be", "error", err)
	}
	s.bytesWritten.Add(int64(len(data)))
}

// summary sums up the events to a newest one whose commit has no reliable summary, as in an imported or
// fetched conversation. If they are many, the index keeps the sum: the newest commit fixes all events, and
// the code says that this user's jp has read them.
func (s *sidecars) summary(ctx context.Context, of conversation.Info, newest *parsedCommit) (sum conversation.Summary, err error) {
	kept := of.ID != "" && newest.seq > walkedAnyway && s.commits.mac.can() && s.usable()
	var file indexFile
	if kept {
		if file = s.readIndex(of); file.head == newest.oid {
			if sum, err = conversation.DecodeSummary(file.summary); err == nil {
				return sum, nil
			}
		}
	}
	for e, err := range s.forward(ctx, of, newest.oid) {
		if err != nil {
			if _, damage := s.commits.walk(newest.oid).events(ctx); damage != nil {
				err = damage
			}
			return sum, err
		}
		sum = sum.Next(e)
	}
	if kept {
		file = s.readIndex(of) // forward has added to it
	}
	if line, err := stateHeader(sum); kept && err == nil && line != nil && !s.readOnly.Load() {
		file.head, file.summary = newest.oid, line
		s.writeIndex(of, file)
	}
	return sum, nil
}

// A Place names an event of a conversation: by its number, or as the last one of a turn.
type Place struct {
	Seq  int
	Turn int // 0: Seq names it
}

// BackwardFrom is [Store.Backward] from an event on. It uses the conversation's index to find
// that event, and adds to it. It yields [conversation.ErrNotFound] if there is no such event.
func (s *Store) BackwardFrom(ctx context.Context, of conversation.Info, from Place) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		head, err := s.parseHead(of.Head)
		seq := from.Seq
		switch {
		case err != nil:
		case from.Turn != 0:
			head, seq, err = s.sidecars.lastOfTurn(ctx, of, head, from.Turn)
		default:
			head, _, err = s.sidecars.find(ctx, of, head, seq)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		w := s.commits.walk(head)
		w.expect = seq
		w.backward(ctx, yield)
	}
}

// lastOfTurn is the commit and the number of the last event of a turn.
func (s *sidecars) lastOfTurn(ctx context.Context, of conversation.Info, head odb.OID, turn int) (odb.OID, int, error) {
	found, seq, err := s.commits.lastOfTurn(ctx, head, turn, walkedAnyway)
	if !errors.Is(err, errFarBelow) {
		return found, seq, err
	}
	_, index, err := s.find(ctx, of, head, 0)
	behind := sort.Search(len(index), func(i int) bool {
		l, wrong := s.commits.read(index[i].oid)
		err = cmp.Or(err, wrong)
		return err != nil || l.event.Turn > turn
	})
	if err != nil {
		return "", 0, err
	}
	if behind < len(index) {
		head = index[behind].oid
	}
	return s.commits.lastOfTurn(ctx, head, turn, math.MaxInt)
}

var errFarBelow = errors.New("the event is far below")

// lastOfTurn looks through so many events from a head on.
func (r *commitReader) lastOfTurn(ctx context.Context, head odb.OID, turn, most int) (odb.OID, int, error) {
	w := r.walk(head)
	w.bare = true
	for n := 0; !w.done; n++ {
		if n == most {
			return "", 0, errFarBelow
		}
		l, err := w.step(ctx)
		switch {
		case err != nil:
			return "", 0, err
		case l.event.Turn == turn:
			return l.oid, l.seq, nil
		case l.event.Turn < turn:
			w.done = true
		}
	}
	return "", 0, fmt.Errorf("%w: turn %d", conversation.ErrNotFound, turn)
}

// find is the commit of an event among those up to a head, and the index that holds for the head.
func (s *sidecars) find(ctx context.Context, of conversation.Info, head odb.OID, seq int) (found odb.OID, index chainIndex, err error) {
	w := &numberWalk{commits: s.commits, next: head, above: -1}
	defer w.stop()
	if err := w.step(ctx); err != nil {
		return "", nil, err
	}
	if seq < 0 || seq > w.seq {
		return "", nil, fmt.Errorf("%w: event %d", conversation.ErrNotFound, seq)
	}
	indexed := of.ID != "" && w.seq-seq > walkedAnyway && s.commits.mac.can() && s.usable()
	var file indexFile
	if indexed {
		file = s.readIndex(of)
		index = file.index
	}
	var fresh chainIndex // missing in the index, newest first
	proven := false
	for {
		i, is := index.at(w.seq)
		if is = is && index[i].oid == w.oid; is && !proven {
			proven, index = true, index[:i+1]
		}
		if !is && w.seq%indexStep == 0 {
			fresh = append(fresh, indexEntry{w.seq, w.oid})
		}
		if w.seq == seq {
			found = w.oid
		}
		// An index that begins further down is walked to, so that it grows at its upper end.
		if found != "" && (proven || len(index) == 0 || w.seq <= index[len(index)-1].seq) {
			break
		}
		if proven {
			if i, _ := index.at(seq); index[i].seq < w.seq-1 {
				w.jump(index[i])
			}
		}
		if err := w.step(ctx); err != nil {
			return "", nil, err
		}
	}
	if !proven {
		index = nil // it is of another history
	}
	index = append(fresh, index...)
	slices.SortFunc(index, func(a, b indexEntry) int { return a.seq - b.seq })
	if indexed && len(fresh) > 0 && !s.readOnly.Load() {
		file.index = index
		s.writeIndex(of, file)
	}
	return found, index, nil
}

// A numberWalk goes down a chain, and reads only the events' numbers.
type numberWalk struct {
	commits *commitReader
	seq     int // of the event that was read
	oid     odb.OID
	next    odb.OID
	above   int // number of the event above next, -1 for any
	steps   int // since the start or a jump
	ahead   *prefetch[stored]
}

// step reads the next older event.
func (w *numberWalk) step(ctx context.Context) error {
	if w.steps++; w.steps == indexStep {
		w.ahead = readAhead(w.commits, w.next, w.commits.checkName)
	}
	var o stored
	ok := false
	if w.ahead != nil {
		o, ok = w.ahead.next(w.next)
	}
	if !ok {
		o = w.commits.stored(w.next)
	}
	seq, parent, err := numberAndParent(o, w.above)
	if err != nil {
		return err
	}
	w.seq, w.oid, w.next, w.above = seq, w.next, parent, seq
	return ctx.Err()
}

// jump goes on at an event further down.
func (w *numberWalk) jump(to indexEntry) {
	w.stop()
	w.next, w.above, w.steps = to.oid, to.seq+1, 0
}

// stop ends the reading ahead.
func (w *numberWalk) stop() {
	if w.ahead != nil {
		w.ahead.stop()
		w.ahead = nil
	}
}

// Forward yields the events up to a head, oldest first, and stops at the first error. It walks from each
// entry of the conversation's index to the one below it, and holds the events of a few such walks. It adds
// to the index. [Store.Load] names any damage and its place.
func (s *Store) Forward(ctx context.Context, of conversation.Info) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		head, err := s.parseHead(of.Head)
		if err != nil {
			yield(nil, err)
			return
		}
		s.sidecars.forward(ctx, of, head)(yield)
	}
}

func (s *sidecars) forward(ctx context.Context, of conversation.Info, head odb.OID) iter.Seq2[*conversation.Event, error] {
	return func(yield func(*conversation.Event, error) bool) {
		_, index, err := s.find(ctx, of, head, 0)
		if err != nil {
			yield(nil, err)
			return
		}
		type walked struct {
			events []*conversation.Event
			err    error
		}
		ctx, cancel := context.WithCancel(ctx)
		walks := make(chan walked, 1)
		defer func() {
			cancel()
			for range walks { // all reading ends before this returns
			}
		}()
		go func() {
			defer close(walks)
			below := odb.OID("")
			for _, end := range append(index, indexEntry{oid: head}) {
				if end.oid == below {
					continue
				}
				events, err := s.commits.between(ctx, below, end.oid)
				select {
				case walks <- walked{events, err}:
				case <-ctx.Done():
				}
				if err != nil || ctx.Err() != nil {
					return
				}
				below = end.oid
			}
		}()
		for w := range walks {
			if w.err != nil {
				yield(nil, w.err)
				return
			}
			for _, e := range w.events {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// between are the events behind one, "" for the start, up to another, oldest first.
func (r *commitReader) between(ctx context.Context, below, end odb.OID) (events []*conversation.Event, err error) {
	w := r.walk(end)
	for !w.done && w.next != below {
		l, err := w.step(ctx)
		if err != nil {
			return nil, err
		}
		events = append(events, l.event)
	}
	if w.done && below != "" {
		return nil, fmt.Errorf("%w: %.10s is not behind %.10s", errNotCached, end, below)
	}
	slices.Reverse(events)
	return events, nil
}
