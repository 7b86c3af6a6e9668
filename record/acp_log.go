package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/agent/repo"
	"jp/importer"
	"jp/internal/safefile"
	"jp/record/journal"
)

// An acpLog writes the messages of the sessions of one run to files, notes the files of the working tree at
// them, and follows its own files as it does those of other agents. A nil one does nothing.
//
// The log has the words before they are redacted. It goes once they are imported.
type acpLog struct {
	repos    [2]*repo.Repo // one for snapshots, and one for imports
	rec      *recorder
	follower *follower
	run      string
	agent    string
	say      func(string)
	stop     func()
	stopped  chan struct{}
	drained  chan struct{}

	mu          sync.Mutex
	more        *sync.Cond
	queue       []acpItem
	closed      bool
	permissions map[string]chan struct{} // asked, by the ids of the requests; closed when the files are noted

	// Of the goroutine that takes the queue.
	asked    map[acpID]acpAsked
	sessions map[string]*acpSession // by the agent's ids
	apart    bool                   // a session elsewhere was told
	fault    error
}

type acpItem struct {
	line   []byte
	editor bool // it is the editor's
	at     time.Time
	wait   chan struct{} // closed when the files are noted, or nil
}

// acpID names a request: both sides number theirs.
type acpID struct {
	editor bool
	id     string
}

type acpAsked struct{ method, session, folder, call string }

type acpSession struct {
	source journal.Source
	file   *os.File // nil before the first words
	model  string
	replay bool // the agent repeats the earlier messages
	again  bool // and the log has them
	noted  bool
	calls  map[string]*acpCall
}

type acpCall struct {
	paths         []string
	before, after bool
}

// logsOf is the folder of the logs.
func (rec *recorder) logsOf() string { return filepath.Join(string(rec.journal), "acp") }

func startACPLog(ctx context.Context, open func(context.Context) (*repo.Repo, error), run, program string, say func(string)) (*acpLog, error) {
	l := &acpLog{
		run: run, agent: filepath.Base(program), say: say, stopped: make(chan struct{}), drained: make(chan struct{}), permissions: map[string]chan struct{}{},
		asked: map[acpID]acpAsked{}, sessions: map[string]*acpSession{},
	}
	l.more = sync.NewCond(&l.mu)
	var recorders [2]*recorder
	for i := range l.repos {
		var err error
		if l.repos[i], err = open(ctx); err == nil {
			recorders[i], err = openRecorder(ctx, l.repos[i])
		}
		if err != nil {
			l.close()
			return nil, err
		}
	}
	l.rec = recorders[0]
	l.follower = &follower{rec: recorders[1], run: run, since: time.Now().Add(-time.Second), sessions: map[string]*followed{}}
	following, stop := context.WithCancel(ctx)
	l.stop = stop
	go func() {
		defer close(l.stopped)
		collectLogs(following, recorders[1])
		l.follower.follow(following)
	}()
	go l.work(ctx)
	return l, nil
}

func (l *acpLog) close() {
	for _, r := range l.repos {
		if r != nil {
			_ = r.Close()
		}
	}
}

// end writes the rest of all sessions. A log whose words are all in a conversation goes.
func (l *acpLog) end(ctx context.Context) (run Run) {
	if l == nil {
		return run
	}
	defer l.close()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.more.Signal()
	<-l.drained
	l.stop()
	<-l.stopped
	l.follower.fault = nil
	l.follower.write(ctx, false)
	for _, s := range l.sessions {
		if s.file == nil {
			continue
		}
		if is := l.follower.sessions[s.source.Format+" "+s.source.Session]; is != nil && is.id != "" && !is.due {
			_ = os.Remove(s.source.File)
		}
		_ = s.file.Close()
	}
	return Run{Sessions: l.follower.recorded(), Fault: errors.Join(l.fault, l.follower.fault)}
}

// collectLogs imports the logs that a crash left.
func collectLogs(ctx context.Context, rec *recorder) {
	entries, err := os.ReadDir(rec.logsOf())
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		path := filepath.Join(rec.logsOf(), e.Name())
		file, err := importer.Open(path)
		if err != nil {
			continue
		}
		if safefile.TryLock(file) == nil {
			if _, err := importer.File(ctx, rec.repo, importer.ACP, path, importer.Options{}); err == nil {
				_ = os.Remove(path)
			}
		}
		_ = file.Close()
	}
}

func (l *acpLog) fromAgent(line []byte) { l.take(line, false) }

// fromEditor holds the answer to a request for permission until the files before the call are noted.
func (l *acpLog) fromEditor(line []byte) {
	if l == nil {
		return
	}
	l.take(line, true)
	l.mu.Lock()
	var noted chan struct{}
	if len(l.permissions) > 0 {
		if m, _ := importer.ReadACP(line); m.Method == "" {
			noted = l.permissions[string(m.ID)]
			delete(l.permissions, string(m.ID))
		}
	}
	l.mu.Unlock()
	if noted != nil {
		select {
		case <-noted:
		case <-time.After(hookSeconds * time.Second): // the agent goes on in any case
		}
	}
}

func (l *acpLog) take(line []byte, editor bool) {
	if l == nil {
		return
	}
	it := acpItem{line: line, editor: editor, at: l.repos[0].Env.Now()}
	const longest = 1 << 20
	id := ""
	if !editor && len(line) < longest && bytes.Contains(line, []byte("request_permission")) {
		if m, _ := importer.ReadACP(line); m.Method == "session/request_permission" {
			id, it.wait = string(m.ID), make(chan struct{})
		}
	}
	l.mu.Lock()
	if it.wait != nil {
		l.permissions[id] = it.wait
	}
	l.queue = append(l.queue, it)
	l.mu.Unlock()
	l.more.Signal()
}

// work takes the queue until the end.
func (l *acpLog) work(ctx context.Context) {
	defer close(l.drained)
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			l.more.Wait()
		}
		if len(l.queue) == 0 {
			l.mu.Unlock()
			return
		}
		items := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, it := range items {
			if m, ok := importer.ReadACP(it.line); ok {
				if err := l.message(ctx, it, &m); err != nil {
					l.fault = err
				}
			}
			if it.wait != nil {
				close(it.wait)
			}
		}
	}
}

func (l *acpLog) message(ctx context.Context, it acpItem, m *importer.ACPMessage) error {
	id, p := string(m.ID), &m.Params
	if m.Method == "" {
		key := acpID{!it.editor, id}
		asked, known := l.asked[key]
		delete(l.asked, key)
		if !known {
			return nil
		}
		return l.answer(ctx, it, m, asked)
	}
	if id != "" {
		l.asked[acpID{it.editor, id}] = acpAsked{m.Method, p.Session, p.Folder, p.Call.Call}
	}
	if it.editor && (m.Method == "session/load" || m.Method == "session/resume") {
		l.open(it, p.Session, p.Folder, m.Method == "session/load", true)
	}
	s := l.sessions[p.Session]
	if s == nil {
		return nil
	}
	switch m.Method {
	case "session/prompt":
		s.noted = true
		err := l.note(ctx, it, s, journal.Moment{Kind: journal.Prompt})
		return errors.Join(err, l.write(ctx, it, s, importer.ACPLine{Model: s.model}))
	case "session/cancel":
		return l.write(ctx, it, s, importer.ACPLine{})
	case "session/set_model":
		s.model = l.model(p.Model)
	case "session/request_permission":
		c := s.call(&p.Call)
		err := l.write(ctx, it, s, importer.ACPLine{})
		if !c.after {
			c.before = true
			err = errors.Join(err, l.note(ctx, it, s, journal.Moment{Kind: journal.Before, Call: p.Call.Call}))
		}
		return err
	case "session/update":
		return l.update(ctx, it, s, &p.Update)
	}
	return nil
}

func (l *acpLog) answer(ctx context.Context, it acpItem, m *importer.ACPMessage, asked acpAsked) error {
	r := &m.Result
	current := cmp.Or(r.Session, asked.session)
	switch asked.method {
	case "initialize":
		l.agent = cmp.Or(r.Agent.Name, l.agent)
	case "session/new", "session/fork":
		if r.Session != "" {
			l.open(it, current, asked.folder, false, false)
		}
	}
	s := l.sessions[current]
	if s == nil {
		return nil
	}
	if model := cmp.Or(r.Models.Current, r.Options.Model()); model != "" {
		s.model = l.model(model)
	}
	switch asked.method {
	case "session/load":
		s.replay = false
	case "session/prompt":
		err := l.write(ctx, it, s, importer.ACPLine{Answers: asked.method})
		return errors.Join(err, l.note(ctx, it, s, journal.Moment{Kind: journal.Stop}))
	case "session/request_permission":
		return l.write(ctx, it, s, importer.ACPLine{Answers: asked.method, Call: asked.call})
	}
	return nil
}

// model names a model as jp does.
func (l *acpLog) model(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return name
	}
	return l.agent + "/" + name
}

// open begins a recording of a session, if it is in the repository. One that the editor opens again has a name
// with the time, since its earlier log is gone.
func (l *acpLog) open(it acpItem, session, folder string, replay, again bool) {
	if s := l.sessions[session]; s != nil {
		s.replay, s.again = replay, true
		return
	}
	if top, err := filepath.EvalSymlinks(folder); err != nil || topOf(top) != l.rec.repo.At.TopLevel {
		if !l.apart {
			l.apart = true
			l.say(fmt.Sprintf("jp does not record the session in %s: jp record acp runs in %s.", folder, l.rec.repo.At.TopLevel))
		}
		return
	}
	name := l.agent + "-" + session
	if again {
		name += fmt.Sprintf("-%d", it.at.UnixMilli())
	}
	file := filepath.Base(l.rec.journal.Name(importer.ACP.Name(), name))
	source := journal.Source{Format: importer.ACP.Name(), Session: name, File: filepath.Join(l.rec.logsOf(), file), Run: l.run, Folder: folder}
	l.sessions[session] = &acpSession{source: source, replay: replay, calls: map[string]*acpCall{}}
}

// topOf is the nearest folder with a repository.
func topOf(folder string) string {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

func (s *acpSession) call(u *importer.ACPUpdate) *acpCall {
	c := s.calls[u.Call]
	if c == nil {
		c = &acpCall{}
		s.calls[u.Call] = c
	}
	for _, path := range u.Paths() {
		if !slices.Contains(c.paths, path) {
			c.paths = append(c.paths, path)
		}
	}
	return c
}

// update notes the files at the begin and the end of a call. The agent goes on meanwhile.
func (l *acpLog) update(ctx context.Context, it acpItem, s *acpSession, u *importer.ACPUpdate) error {
	switch u.Kind {
	case "config_option_update":
		s.model = cmp.Or(l.model(u.Options.Model()), s.model)
		return nil
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		return l.write(ctx, it, s, importer.ACPLine{})
	case "tool_call", "tool_call_update":
	default:
		return nil
	}
	if s.replay {
		s.call(u).after = true
		return l.write(ctx, it, s, importer.ACPLine{})
	}
	c := s.call(u)
	m := journal.Moment{Kind: journal.Before, Call: u.Call, About: true}
	if !u.Ended() {
		err := l.write(ctx, it, s, importer.ACPLine{})
		if !c.before && !c.after {
			c.before = true
			err = errors.Join(err, l.note(ctx, it, s, m))
		}
		return err
	}
	var err error
	if c.before && !c.after {
		m.Kind, m.Paths = journal.After, c.paths
		err = l.note(ctx, it, s, m) // before the words, since the importer looks for it then
	}
	c.after = true
	return errors.Join(err, l.write(ctx, it, s, importer.ACPLine{}))
}

// note notes the files. A fault is in the journal.
func (l *acpLog) note(ctx context.Context, it acpItem, s *acpSession, m journal.Moment) error {
	ctx, cancel := context.WithTimeout(ctx, hookSeconds*time.Second)
	defer cancel()
	_, err := l.rec.note(ctx, s.source, m, it.at)
	return err
}

// write adds a message to the log of a session.
func (l *acpLog) write(ctx context.Context, it acpItem, s *acpSession, line importer.ACPLine) (err error) {
	if s.replay && s.again {
		return nil
	}
	var text []byte
	if s.file == nil {
		if err := os.MkdirAll(filepath.Dir(s.source.File), 0o700); err != nil {
			return err
		}
		if s.file, err = os.OpenFile(s.source.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return err
		}
		if err := safefile.TryLock(s.file); err != nil { // until this process ends
			return err
		}
		if text, err = json.Marshal(importer.ACPLine{Session: s.source.Session, Folder: s.source.Folder, At: it.at}); err != nil {
			return err
		}
		text = append(text, '\n')
	}
	line.At, line.Replay, line.Message = it.at.UTC(), s.replay, bytes.TrimSpace(it.line)
	if len(it.line) > importer.ACPLongest {
		if line.Message, err = shortened(it.line); err != nil {
			return err
		}
	}
	one, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err = s.file.Write(append(append(text, one...), '\n')); err != nil || s.noted {
		return err
	}
	s.noted = true
	return l.note(ctx, it, s, journal.Moment{Kind: journal.Start})
}

// shortened is a message whose long texts are cut off.
func shortened(message []byte) ([]byte, error) {
	var value any
	if err := json.Unmarshal(message, &value); err != nil {
		return nil, err
	}
	const most = 64 << 10
	var cut func(any) any
	cut = func(value any) any {
		switch is := value.(type) {
		case string:
			if len(is) > most {
				return strings.ToValidUTF8(is[:most], "") + fmt.Sprintf("… (%d bytes are left out)", len(is)-most)
			}
		case []any:
			for i := range is {
				is[i] = cut(is[i])
			}
		case map[string]any:
			for key := range is {
				is[key] = cut(is[key])
			}
		}
		return value
	}
	return json.Marshal(cut(value))
}
