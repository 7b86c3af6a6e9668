package record

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"jp/conversation"
	"jp/importer"
	"jp/record/journal"
)

// Times of a follower.
const (
	pollEvery   = 250 * time.Millisecond
	importEvery = 700 * time.Millisecond // at least, and four times what an import took
)

// A follower writes the events of the sessions of one run while the agent works.
type follower struct {
	rec      *recorder
	run      string
	since    time.Time
	sessions map[string]*followed // by format and session
	fault    error                // of the newest import that failed
}

type followed struct {
	source   journal.Source
	moments  int
	size     int64 // of the session's file
	changed  time.Time
	imported time.Time
	took     time.Duration
	due      bool
	id       conversation.ID
	noted    int // tool calls with both moments
	missed   int // moments with a fault
	why      string
}

// follow writes events until ctx ends.
func (f *follower) follow(ctx context.Context) {
	f.finish(ctx)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.write(ctx, true)
		}
	}
}

// finish writes the rest of the sessions whose recorder was killed.
func (f *follower) finish(ctx context.Context) {
	for _, run := range f.rec.journal.Dead() {
		dead := &follower{rec: f.rec, run: run, sessions: map[string]*followed{}}
		if dead.write(ctx, false); dead.fault == nil && ctx.Err() == nil {
			f.rec.journal.Forget(run)
		}
	}
}

// write imports the sessions that have grown. If live is set, calls without a result stay open.
func (f *follower) write(ctx context.Context, live bool) {
	f.look()
	for _, s := range f.sessions {
		if live && (!s.due || time.Since(s.imported) < max(importEvery, 4*s.took)) {
			continue
		}
		began := time.Now()
		err := f.one(ctx, s, live)
		s.imported, s.took = time.Now(), time.Since(began)
		if ctx.Err() == nil {
			f.fault = err
		}
	}
}

// look finds out which sessions have grown.
func (f *follower) look() {
	sessions, err := f.rec.journal.All(f.since)
	if err != nil {
		f.fault = err
		return
	}
	for _, s := range sessions {
		if s.Run != f.run {
			continue
		}
		key := s.Format + " " + s.Session
		was := f.sessions[key]
		if was == nil {
			was = &followed{}
			f.sessions[key] = was
		}
		was.source = s.Source
		was.count(s)
		size, at, err := stateOf(fileOf(s.Source))
		if err == nil && (len(s.Moments) != was.moments || size != was.size || at != was.changed) {
			was.due, was.moments, was.size, was.changed = true, len(s.Moments), size, at
		}
	}
}

// withoutHooks imports the sessions in this working tree that have grown, although no hook came.
func (f *follower) withoutHooks(ctx context.Context, name string) (ids []conversation.ID) {
	format := importer.FormatNamed(name)
	files, err := format.Files(format.Folder(f.rec.repo.Env.Get), f.rec.repo.At.TopLevel)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.ModTime().Before(f.since) {
			continue
		}
		report, err := importer.File(ctx, f.rec.repo, format, file, importer.Options{})
		if f.fault = err; err == nil {
			ids = append(ids, report.ID)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.fault = err
	}
	return ids
}

func (f *followed) count(s journal.Session) {
	f.noted, f.missed = 0, 0
	before := map[string]bool{}
	for _, m := range s.Moments {
		switch {
		case m.Fault != "":
			f.missed, f.why = f.missed+1, m.Fault
		case m.Kind == journal.Before:
			before[m.Call] = true
		case m.Kind == journal.After && before[m.Call]:
			f.noted++
		}
	}
}

// fileOf is the file that holds a session. opencode has a database of all of them.
func fileOf(s journal.Source) string {
	if at := strings.LastIndexByte(s.File, '#'); s.Format == "opencode" && at >= 0 {
		return s.File[:at]
	}
	return s.File
}

// stateOf is the size of a file and the time of its newest change, with the log that a database has beside it.
func stateOf(file string) (size int64, at time.Time, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, at, err
	}
	size, at = info.Size(), info.ModTime()
	if log, err := os.Stat(file + "-wal"); err == nil {
		size += log.Size()
		if log.ModTime().After(at) {
			at = log.ModTime()
		}
	}
	return size, at, nil
}

func (f *follower) one(ctx context.Context, s *followed, live bool) error {
	format := importer.FormatNamed(s.source.Format)
	if _, err := os.Stat(fileOf(s.source)); format == nil || errors.Is(err, fs.ErrNotExist) { // the agent writes it with the first words
		s.due = false
		return nil
	}
	report, err := importer.File(ctx, f.rec.repo, format, s.source.File, importer.Options{Live: live, Look: func(ctx context.Context) (journal.Moment, error) {
		return f.rec.note(ctx, s.source, journal.Moment{Kind: journal.Look}, time.Now())
	}})
	if report != nil {
		s.id = report.ID
	}
	s.due = err != nil || report.Waits
	return err
}

// A Recorded is a session of a finished run.
type Recorded struct {
	Conversation conversation.ID // "" for a session without words
	Calls        int             // with the files before and behind them
	Missed       int             // moments that could not be noted
	Why          string
}

func (f *follower) recorded() (all []Recorded) {
	for _, s := range f.sessions {
		all = append(all, Recorded{s.id, s.noted, s.missed, s.why})
	}
	return all
}
