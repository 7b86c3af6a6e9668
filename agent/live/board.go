package live

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/compaction"
	"jp/conversation"
	"jp/process"
	"jp/process/attach"
	"jp/tool"
)

// A Group says whether a conversation on a Board needs the user.
type Group string

// Groups, in the order of a Board.
const (
	NeedsYou Group = "needs_you" // it waits for an answer, or its turn is interrupted
	Working  Group = "working"   // a process works on its turn
	Ready    Group = "ready"     // its turn has ended
)

// A Row is one conversation of a Board.
type Row struct {
	ID         conversation.ID `json:"conversation"`
	Repository string          `json:"repository"` // the absolute common git directory
	Place      string          `json:"place"`      // the root of the working tree, or the git directory of a bare repository
	Title      string          `json:"title"`
	Group      Group           `json:"group"`
	Since      time.Time       `json:"since"`    // of the turn, of the question, or of the end
	PID        int             `json:"pid"`      // 0 without a process
	Tokens     int             `json:"tokens"`   // that the newest request took of the model's context; 0: unknown
	Last       string          `json:"last"`     // line of the answer, of the output or of the question
	Question   *attach.Inquiry `json:"question"` // that a process asks
	Status     repo.Status     `json:"-"`        // as recorded
}

// The reach of a Board for conversations without a process.
const (
	readyFor = 24 * time.Hour
	needsFor = 7 * 24 * time.Hour
)

// mostLast is how much of a text a Board keeps to show its last line, in bytes.
const mostLast = 4 << 10

// A Board follows the conversations that run on this machine, and those of one repository that wait or have just ended.
// It hears of them by the sockets of their processes, and reads a conversation when it begins, ends, or records an event.
type Board struct {
	Host func(dir string) *repo.Host // for the repository of a folder
	Here *repo.Repo                  // its conversations without a process are shown, too; or nil
	Data string                      // the user's folder with the registries

	mu    sync.Mutex
	rows  map[string]*boardRow
	repos map[string]*repo.Repo // by place
	news  chan struct{}
	freed chan struct{} // a process has released its conversation
	group sync.WaitGroup
}

// A boardRow is a row, with the connection to its process.
type boardRow struct {
	row    Row
	read   sync.Mutex        // held while the row is read, so that what is read later is shown
	head   conversation.Head // at which the row was read
	repo   *repo.Repo
	client *attach.Client // or nil
	lives  bool           // a goroutine follows its process
	text   string         // the end of the answer that streams
	await  func()         // ends the wait for a process without an entry; or nil
}

// NewBoard is a board before its first reading.
func NewBoard(host func(dir string) *repo.Host, here *repo.Repo, data string) *Board {
	return &Board{Host: host, Here: here, Data: data, rows: map[string]*boardRow{}, repos: map[string]*repo.Repo{}, news: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
}

// News tells that rows have changed.
func (b *Board) News() <-chan struct{} { return b.news }

func (b *Board) tell() { note(b.news) }

// note signals news.
func note(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

// Rows are the conversations as they are now: those that need the user, those that work, those that are ready; the
// newest first.
func (b *Board) Rows() (rows []Row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.rows {
		if r.row.Group != "" { // it has been read
			rows = append(rows, r.row)
		}
	}
	order := map[Group]int{NeedsYou: 0, Working: 1, Ready: 2}
	slices.SortFunc(rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(order[x.Group], order[y.Group]), y.Since.Compare(x.Since), cmp.Compare(x.Key(), y.Key()))
	})
	return rows
}

// Key names the conversation on its board.
func (r Row) Key() string { return string(r.ID) + " " + r.Repository }

// Reach is the repository of a row, and the connection to its process, or nil.
func (b *Board) Reach(key string) (*repo.Repo, *attach.Client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rows[key]; r != nil {
		return r.repo, r.client
	}
	return nil, nil
}

// Read reads all rows once, without connecting to processes.
func (b *Board) Read(ctx context.Context) error {
	entries, err := process.Machine{DataDir: b.Data}.Live(ctx)
	for _, e := range entries {
		if r := b.rowOf(e); r != nil {
			b.describe(ctx, r)
		}
	}
	_, errHere := b.readHere(ctx)
	return errors.Join(err, errHere)
}

// Follow keeps the rows up to date until ctx ends. It may be called once.
func (b *Board) Follow(ctx context.Context) error {
	var further []string
	if b.Here != nil {
		further = append(further, b.Here.Locks.Dir)
	}
	machine := process.Machine{DataDir: b.Data}
	changes, err := machine.Changes(ctx, further...)
	if err != nil {
		return err
	}
	defer b.group.Wait()
	for {
		entries, _ := machine.Live(ctx) // a broken entry leaves the others
		for _, e := range entries {
			if r := b.rowOf(e); r != nil && b.begin(r) {
				b.group.Go(func() { b.follow(ctx, r) })
			}
		}
		held, err := b.readHere(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, r := range held {
			b.awaitFree(ctx, r)
		}
		b.tell()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
		case <-b.freed:
		}
	}
}

// Close closes the repositories. Follow has returned.
func (b *Board) Close() {
	for _, r := range b.repos {
		_ = r.Close() // it has only read
	}
}

// rowOf is the row of an entry. It is nil for a delegate, which asks in its parent's conversation, and if the
// repository cannot be opened.
func (b *Board) rowOf(e process.Entry) *boardRow {
	if e.Parent != "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	row := Row{ID: e.ConversationID, Repository: e.Repository, Place: cmp.Or(e.Worktree, placeOf(e.Repository))}
	if r := b.rows[row.Key()]; r != nil {
		r.row.Place = row.Place
		return r
	}
	r := b.open(row.Place)
	if r == nil {
		return nil
	}
	b.rows[row.Key()] = &boardRow{row: row, repo: r}
	return b.rows[row.Key()]
}

// placeOf is the folder that people know a repository by.
func placeOf(common string) string {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return common
}

// open opens the repository of a place, once. The lock is held.
func (b *Board) open(place string) *repo.Repo {
	if b.Here != nil && place == b.Here.Place() {
		return b.Here
	}
	if r := b.repos[place]; r != nil {
		return r
	}
	r, err := repo.Find(context.Background(), b.Host(place))
	if err != nil {
		return nil
	}
	b.repos[place] = r
	return r
}

// readHere reads the conversations of the repository that have no process, and returns those that a process
// holds.
func (b *Board) readHere(ctx context.Context) (held []*boardRow, err error) {
	if b.Here == nil {
		return nil, nil
	}
	list, err := b.Here.States().All(ctx, conversation.ScopeLive, "")
	if err != nil {
		return nil, err
	}
	now := b.Here.Env.Now()
	listed := map[conversation.ID]bool{}
	for _, l := range list {
		listed[conversation.ID(l.ID)] = true
		id, err := conversation.ParseID(l.ID)
		age := now.Sub(l.Active())
		if err != nil || l.Err != nil || l.Parent != nil || !l.Local || age > needsFor || l.Status.State == "idle" && age > readyFor {
			continue
		}
		row := Row{ID: id, Repository: b.Here.At.CommonDir, Place: b.Here.Place()}
		b.mu.Lock()
		r := b.rows[row.Key()]
		if r == nil {
			r = &boardRow{row: row, repo: b.Here}
			b.rows[row.Key()] = r
		}
		same := r.lives || r.head == l.Head && r.row.Status.State == l.Status.State
		b.mu.Unlock()
		if !same {
			b.describe(ctx, r)
		}
		if l.Status.PID != nil {
			held = append(held, r)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, r := range b.rows { // archived or deleted
		if r.repo == b.Here && !r.lives && !listed[r.row.ID] {
			delete(b.rows, key)
		}
	}
	return held, nil
}

// awaitFree waits for a process without an entry, such as jp edit, which has no socket to report its end.
func (b *Board) awaitFree(ctx context.Context, r *boardRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.lives || r.await != nil {
		return
	}
	waiting, cancel := context.WithCancel(ctx)
	r.await = cancel
	ended := r.repo.Processes().AwaitEnd(r.row.ID)
	b.group.Go(func() {
		defer cancel()
		_ = ended(waiting)
		b.mu.Lock()
		r.await = nil
		b.mu.Unlock()
		note(b.freed)
	})
}

// begin reports whether a row has to be followed.
func (b *Board) begin(r *boardRow) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.lives {
		return false
	}
	if r.await != nil {
		r.await()
	}
	r.lives = true
	return true
}

// describe reads a row from its conversation. One that is gone leaves the board.
func (b *Board) describe(ctx context.Context, r *boardRow) {
	r.read.Lock()
	defer r.read.Unlock()
	info, err := r.repo.Store.Info(ctx, r.row.ID)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if errors.Is(err, conversation.ErrNotFound) && !r.lives {
			delete(b.rows, r.row.Key())
		}
		return
	}
	l := r.repo.States().List(ctx, info)
	var events []*conversation.Event // of the newest turn
	for e, err := range r.repo.Store.Backward(ctx, info.Head) {
		if err != nil {
			break
		}
		if events = append(events, e); e.Type() == conversation.TypeTurnStart {
			break
		}
	}
	slices.Reverse(events)
	tokens, _ := compaction.Used(events)
	b.mu.Lock()
	defer b.mu.Unlock()
	r.head = info.Head
	r.row.Title, r.row.Status, r.row.Since, r.row.PID = problem.OneLine(repo.Title(l)), l.Status, l.Active(), 0
	r.row.Tokens = max(tokens, r.row.Tokens)
	r.row.Group = map[string]Group{"running": Working, "idle": Ready}[l.Status.State]
	if r.row.Group == "" {
		r.row.Group = NeedsYou
	}
	switch {
	case !r.lives && info.Summary.Status == conversation.StatusIdle: // a command such as jp edit holds it, or none does
		r.row.Group = Ready
	case l.Status.PID != nil:
		if r.row.PID = *l.Status.PID; r.client != nil { // the connection reports the question before the entry does
			r.row.Group = map[bool]Group{true: NeedsYou, false: Working}[r.row.Question != nil]
		}
	}
	if r.row.Group == Working && len(events) > 0 {
		r.row.Since = events[0].Time
	}
	r.row.Last = lastOf(events)
	switch {
	case r.row.Question != nil:
		r.row.Last = tool.Asked(problem.OneLine(r.row.Question.Text))
	case l.Status.Question != nil:
		r.row.Last = repo.AskedWords(repo.Plain(l.Status.Tool), "", *l.Status.Question)
	case l.Status.State == "interrupted":
		r.row.Last = l.Status.Words()
	}
}

// lastOf is the last line of the newest message of a turn, else the subject of its newest event.
func lastOf(events []*conversation.Event) string {
	for _, e := range slices.Backward(events) {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			if b.Part == conversation.PartMessage {
				return lastLine(b.Text)
			}
		case *conversation.ToolCallRequest, *conversation.ChatRequest, *conversation.TurnStopped:
			return problem.OneLine(e.Subject)
		}
	}
	return ""
}

// lastLine is the last line of a text that is not blank.
func lastLine(text string) string {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if line := problem.OneLine(line); line != "" {
			return line
		}
	}
	return ""
}

// follow hears of a conversation until its process ends.
func (b *Board) follow(ctx context.Context, r *boardRow) {
	ended := r.repo.Processes().AwaitEnd(r.row.ID)
	b.describe(ctx, r)
	b.tell()
	client, err := r.repo.Processes().Connect(ctx, r.row.ID)
	if err == nil {
		stop := context.AfterFunc(ctx, func() { client.Close() })
		b.connected(r, client)
		for err == nil {
			var m attach.Message
			if m, err = client.Next(); err == nil && b.heard(r, m) {
				b.describe(ctx, r)
			}
			b.tell()
		}
		stop()
		client.Close()
		b.connected(r, nil)
	}
	_ = ended(ctx)
	b.mu.Lock()
	r.lives, r.row.Question, r.text = false, nil, ""
	b.mu.Unlock()
	if ctx.Err() == nil {
		b.describe(ctx, r)
		b.tell()
		note(b.freed) // a process without an entry may have it by now
	}
}

func (b *Board) connected(r *boardRow, client *attach.Client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.client = client
}

// heard applies a process's message, and reports whether the conversation is to be read again.
func (b *Board) heard(r *boardRow, m attach.Message) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch m := m.(type) {
	case *attach.Activity:
		if n := m.Context + m.Tokens; m.Context > 0 && m.Conversation == r.row.ID {
			r.row.Tokens = n
		}
		if line := cmp.Or(m.Tail, m.Progress, tool.Line(m.Name, m.Argument)); line != "" && !m.Over {
			r.row.Last = problem.OneLine(line)
		}
	case *attach.Delta:
		if m.Part == conversation.PartMessage {
			r.text += m.Text
			r.text = r.text[max(0, len(r.text)-mostLast):]
			r.row.Last = cmp.Or(lastLine(r.text), r.row.Last)
		}
	case *attach.Event:
		r.text = ""
		return m.Event != conversation.TypeToolStarted
	case *attach.Inquiry:
		r.row.Question, r.row.Group, r.row.Last = m, NeedsYou, repo.QuestionWords(*m)
		return true
	case *attach.Answered:
		if r.row.Question != nil && m.Seq == r.row.Question.Seq && m.Conversation == r.row.Question.Conversation {
			r.row.Question, r.row.Group = nil, Working
			return true
		}
	}
	return false
}
