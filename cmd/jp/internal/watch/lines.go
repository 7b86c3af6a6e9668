package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/agent/live"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/safetext"
)

// linesEvery is the least time between two looks at rows of which lines are written.
const linesEvery = 250 * time.Millisecond

// lines writes a line for each row that has changed.
type lines struct {
	env  *ui.Env
	said map[string]string // by key
}

// Types of the JSON lines.
type (
	watchingJSON struct {
		Type string `json:"type"` // watching
		JSON int    `json:"json"` // version of the contract
	}
	rowJSON struct {
		Type string `json:"type"` // conversation
		Row  live.Row
	}
	goneJSON struct {
		Type         string          `json:"type"` // gone
		Conversation conversation.ID `json:"conversation"`
		Repository   string          `json:"repository"`
	}
)

// MarshalJSON makes one object of a row and its type.
func (r rowJSON) MarshalJSON() ([]byte, error) {
	row, err := json.Marshal(r.Row)
	return append([]byte(`{"type":"`+r.Type+`",`), row[1:]...), err
}

// follow writes until ctx ends, the board fails, or the reader is gone.
func (l *lines) follow(ctx context.Context, board *live.Board, failed <-chan error) error {
	if l.env.Format.Structured() {
		if err := ui.WriteJSON(l.env.Results(), watchingJSON{"watching", ui.JsonVersion}); err != nil {
			return err
		}
	}
	unread := make(chan struct{})
	go awaitUnread(l.env.Stdout, unread)
	for {
		select {
		case <-board.News():
		case err := <-failed:
			return err
		case <-unread:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := l.write(board.Rows()); err != nil {
			return err
		}
		select {
		case <-time.After(linesEvery):
		case <-ctx.Done():
		}
	}
}

// awaitUnread waits until a pipe has lost its reader.
func awaitUnread(out *os.File, unread chan<- struct{}) {
	fds := []unix.PollFd{{Fd: int32(out.Fd())}}
	for {
		n, err := unix.Poll(fds, -1)
		if err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			close(unread)
			return
		}
		if err != nil && err != unix.EINTR {
			return
		}
	}
}

func (l *lines) write(rows []live.Row) error {
	shown := map[string]bool{}
	for _, row := range rows {
		shown[row.Key()] = true
		text, err := l.text(row)
		if err != nil {
			return err
		}
		if l.said[row.Key()] == text {
			continue
		}
		l.said[row.Key()] = text
		if _, err := fmt.Fprintln(l.env.Results(), text); err != nil {
			return err
		}
	}
	for key := range l.said {
		if shown[key] {
			continue
		}
		delete(l.said, key)
		id, repository, _ := strings.Cut(key, " ")
		if l.env.Format.Structured() {
			if err := ui.WriteJSON(l.env.Results(), goneJSON{"gone", conversation.ID(id), repository}); err != nil {
				return err
			}
		}
	}
	return nil
}

// text is the line of a row. For people it leaves out parts that change all the time.
func (l *lines) text(row live.Row) (string, error) {
	if l.env.Format.Structured() {
		var b strings.Builder
		err := ui.WriteJSON(&b, rowJSON{"conversation", row})
		return strings.TrimSuffix(b.String(), "\n"), err
	}
	text := fmt.Sprintf("%s  %s  %s  %s", row.ID.Short(), groupWords[row.Group], short(l.env, row.Place), row.Title)
	if row.Group == live.NeedsYou {
		text += ": " + row.Last
	}
	return text, nil
}

func list(e *ui.Env, rows []live.Row) error {
	if len(rows) == 0 {
		e.Note("No conversation runs or waits on this machine.")
	}
	table := &terminal.Table{Flexible: 4}
	for _, row := range rows {
		table.Row(string(row.ID), groupWords[row.Group], terminal.Ago(row.Since, e.Now()), tokensOf(row), row.Title, row.Place, row.Last)
	}
	return table.Print(e.Results())
}

// groupWords are the names of the groups for people.
var groupWords = map[live.Group]string{live.NeedsYou: "needs you", live.Working: "working", live.Ready: "ready"}

// tokensOf is how much of its model's context a conversation uses, "" if that is unknown.
func tokensOf(row live.Row) string {
	if row.Tokens == 0 {
		return ""
	}
	return conversation.Tokens(row.Tokens)
}

// short is a folder as people write it.
func short(e *ui.Env, dir string) string {
	if home := e.Get("HOME"); home != "" {
		if rest, ok := strings.CutPrefix(dir, home+string(os.PathSeparator)); ok {
			dir = "~" + string(os.PathSeparator) + rest
		}
	}
	return safetext.OneLine(dir)
}
