package gitstore

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"jp/internal/safefile"
)

// update brings the segment's log and word index up to its end. After a failed write both are still in
// memory. The log of a newest segment may have events behind that end, which another process has added.
// Then there are no words.
func (f *finder) update(ctx context.Context, c segmentEnd) (*commitLog, origin, error) {
	log := readCommitLog(f.path(c)+logSuffix, f.buffer, f.all.ids)
	at := f.keepChain(log)
	last := log.Index(c.end)
	whole := last >= 0 && last == log.Len()-1
	if last < 0 || !c.begins(at) || !c.newest() && (!whole || log.Len() != segmentEvents) {
		var err error
		if at, err = f.complete(ctx, log, at, c); err != nil {
			return nil, at, err
		}
		whole = true
		f.write(log.Size(), func() error {
			if err := safefile.MakeFolders(f.all.dir, 0o777, f.all.git.Share); err != nil {
				return err
			}
			return log.Write(f.path(c) + logSuffix)
		})
	}
	if !whole {
		f.words = nil
		return log, at, nil
	}
	return log, at, f.index(log, at, c)
}

// keepChain forgets records of a log that are not consecutive events of one segment: each
// is checked by itself, and one may be missing, be of another history, or by another program.
func (f *finder) keepChain(log *commitLog) origin {
	whole := 0
	for whole < min(log.Len(), segmentEvents) && !f.forged(log.Record(whole)) && (whole == 0 || idOf(firstParent(log.Record(whole).Raw)) == log.ID(whole-1)) {
		whole++
	}
	log.Keep(whole)
	if whole == 0 {
		return origin{}
	}
	first, before, err := numberAndParent(stored{kind: "commit", object: log.Record(0).Raw}, -1)
	last, _, lastErr := numberAndParent(stored{kind: "commit", object: log.Record(whole - 1).Raw}, -1)
	if err != nil || lastErr != nil || first%segmentEvents != 0 || last != first+whole-1 {
		log.Keep(0)
		return origin{}
	}
	return originOf(first, before)
}

// complete reads the events of a segment from its end back to one in its log, or to its beginning, and
// makes them the log's. at is the beginning of the log.
func (f *finder) complete(ctx context.Context, log *commitLog, at origin, c segmentEnd) (origin, error) {
	var ahead *prefetch[stored]
	var missing []record // newest first
	size, first := 0, 0
	for oid, above := oidOf(c.end, f.all.ids), -1; ; {
		var o stored
		ok := false
		if ahead != nil {
			o, ok = ahead.next(oid)
		}
		if !ok {
			o = f.all.commits.stored(oid)
		}
		seq, parent, err := numberAndParent(o, above)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return at, err
		}
		if above < 0 {
			first = seq - seq%segmentEvents
			if !c.newest() && (first != c.first || seq != first+segmentEvents-1) {
				return at, errNotCached
			}
			if at.first != first {
				log.Keep(0)
			}
			ahead = readSome(f.all.commits, parent, seq-first, f.all.commits.checkName)
			defer ahead.stop()
		}
		missing = append(missing, record{ID: idOf(oid), Raw: o.object})
		if size += len(o.object); size > maxLog {
			return at, errNotCached
		}
		i := seq - first
		if i == 0 {
			log.Keep(0)
			at = originOf(first, parent)
			break
		}
		if i <= log.Len() && log.ID(i-1) == idOf(parent) {
			log.Keep(i)
			break
		}
		above, oid = seq, parent
	}
	for _, r := range slices.Backward(missing) {
		log.Add(r)
	}
	return at, nil
}

// index makes the words reach to the newest record of a segment's log. Marks are for
// conversations that are searched again: making them takes a quarter of the time of the
// first search.
func (f *finder) index(log *commitLog, at origin, c segmentEnd) error {
	from, size, again := 0, log.Size(), f.words != nil
	goesOn := again && f.words.Marked && origin{f.words.First, f.words.Before} == at
	if goesOn && f.words.Head == c.end {
		return nil
	}
	if goesOn {
		from = log.Index(f.words.Head) + 1
	}
	path := f.path(c) + wordsSuffix
	if !goesOn || from != f.words.Len() || !f.words.fits(size) || !f.words.loadMarks(path) {
		f.words, from = newWordIndex(size, again, f.all.ids, f.all.seal()), 0
		f.words.First, f.words.Before = at.first, at.before
	}
	for ; from < log.Len(); from++ {
		if err := addCommit(f.words, log, log.Record(from)); err != nil {
			return err
		}
	}
	if c.newest() {
		f.words.Add([]byte(f.title))
	}
	f.write(f.words.Size(), func() error { return f.words.Write(path) })
	return nil
}

// addCommit adds the searchable texts of the log's next event to the words.
func addCommit(w *wordIndex, log *commitLog, next record) error {
	c, err := parseCommit(next.Raw)
	if err != nil {
		return err
	}
	w.AddRecord(log, c.data, c.message)
	w.Text = w.Text || textElsewhere.Index(c.data) >= 0
	w.Discards = w.Discards || takesBack.Index(c.data) >= 0 || takesBack.Index(c.message) >= 0
	return nil
}

// write has a file of so many bytes written, if any is to be. An error costs only time.
func (f *finder) write(size int, file func() error) {
	if !f.all.readOnly.Load() {
		f.ignore(file())
		f.all.bytesWritten.Add(int64(size))
	}
}

// ignore drops an error of writing: the sidecar is only a copy.
func (f *finder) ignore(err error) {
	if err != nil && f.all.log != nil {
		f.all.log.Debug("the search is slower than it could be", "error", err)
	}
}

// evict looks at all sidecars once much was written.
func (f *finder) evict() {
	if !f.all.readOnly.Load() && f.all.bytesWritten.Load() >= f.all.limit/boundShare {
		f.all.bytesWritten.Store(0)
		f.all.evict(filepath.Base(f.newestPath))
	}
}
