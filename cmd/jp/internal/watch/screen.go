package watch

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"jp/agent/live"
	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safetext"
	"jp/internal/version"
	"jp/process/attach"
	"jp/turnloop"
)

const (
	drawEvery = 100 * time.Millisecond // at most, for changes of conversations
	unread    = 400 * time.Millisecond // in which a question that has appeared takes no answer
)

// A screen shows a board on the whole terminal, and takes the user's keys.
type screen struct {
	env      *ui.Env
	board    *live.Board
	tty      *terminal.TTY
	screen   *terminal.Screen
	keyboard *keyboard
	palette  terminal.Palette

	rows     []live.Row
	selected string // key of a row
	pressed  bool   // the user has pressed a key: until then the first row is selected
	note     string // in place of the keys
	line     *line  // that the user types; nil: none
	stopping string // key of the row that another s stops
	asked    *asked // the question of the selected row; nil: it has none
	news     chan struct{}
	told     chan string // notes
	answered chan *asked // questions that have ended
}

func show(ctx context.Context, e *ui.Env, board *live.Board, failed <-chan error) (err error) {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return err
	}
	defer tty.Close()
	s := &screen{
		env: e, board: board, tty: tty, screen: terminal.NewScreen(e.Stdout, e.Results()), palette: e.Palette(e.Stdout),
		news: make(chan struct{}, 1), told: make(chan string, 8), answered: make(chan *asked, 1),
	}
	if s.keyboard, err = openKeyboard(ctx, tty); err != nil {
		return err
	}
	defer func() {
		s.endQuestion()
		s.keyboard.close()
		err = errors.Join(err, s.screen.Close())
	}()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	return s.run(ctx, resized, failed)
}

// errLeft ends the screen at the user's wish.
var errLeft = errors.New("left")

func (s *screen) run(ctx context.Context, resized <-chan os.Signal, failed <-chan error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if err := s.draw(ctx); err != nil {
			return err
		}
		drawn := time.Now()
		timer.Stop()
		if every := s.redrawEvery(); every > 0 {
			timer.Reset(every)
		}
		err := s.await(ctx, resized, failed, timer, drawn)
		switch {
		case errors.Is(err, errLeft):
			return nil
		case errors.Is(err, terminal.ErrHangup):
			return &turnloop.Interrupt{Signal: "SIGHUP"}
		case err != nil:
			return err
		}
	}
}

func (s *screen) await(ctx context.Context, resized <-chan os.Signal, failed <-chan error, timer *time.Timer, drawn time.Time) error {
	var later <-chan time.Time
	news := s.board.News()
	for {
		select {
		case <-news: // wait until enough time has passed; more news may come
			news, later = nil, time.After(time.Until(drawn.Add(drawEvery)))
			continue
		case <-later:
		case <-timer.C:
		case <-resized:
		case <-s.news:
		case s.note = <-s.told:
		case a := <-s.answered:
			if s.asked == a {
				s.asked = nil
			}
			if a.err != nil && !errors.Is(a.err, errMoved) {
				s.note = safetext.OneLine(a.err.Error())
			}
		case k := <-s.keyboard.keys:
			return s.press(ctx, k)
		case err := <-s.keyboard.err:
			return err
		case err := <-failed:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return nil
	}
}

// redrawEvery is how often times change on the screen, 0 if there are none.
func (s *screen) redrawEvery() time.Duration {
	switch {
	case len(s.rows) == 0:
		return 0
	case s.current() != nil && len(s.rows) > 0 && s.working():
		return time.Second
	}
	return 30 * time.Second
}

func (s *screen) working() bool {
	for _, r := range s.rows {
		if r.Group == live.Working {
			return true
		}
	}
	return false
}

// current is the selected row, or nil.
func (s *screen) current() *live.Row {
	for i := range s.rows {
		if s.rows[i].Key() == s.selected {
			return &s.rows[i]
		}
	}
	return nil
}

func (s *screen) move(by int) {
	at := 0
	for i := range s.rows {
		if s.rows[i].Key() == s.selected {
			at = i
		}
	}
	if len(s.rows) > 0 {
		s.selected = s.rows[min(max(at+by, 0), len(s.rows)-1)].Key()
	}
}

func (s *screen) press(ctx context.Context, k key) error {
	s.pressed = true
	if l := s.reading(); l != nil {
		if l.press(k) {
			s.line = nil
		}
		return nil
	}
	s.note = ""
	stopping := s.stopping
	s.stopping = ""
	if s.asked != nil && s.asked.takes(k) {
		s.note = s.asked.press(k)
		return nil
	}
	switch row := s.current(); {
	case k.is("up"):
		s.move(-1)
	case k.is("down"):
		s.move(1)
	case k.is("home"):
		s.move(-len(s.rows))
	case k.is("end"):
		s.move(len(s.rows))
	case k.is("pgup", "pgdown"):
		if s.asked != nil {
			s.asked.scroll(k.is("pgup"))
		}
	case k.is("q", "esc", "ctrl+c", "ctrl+d"):
		return errLeft
	case row == nil:
	case k.is("enter"):
		return s.open(ctx, *row)
	case k.is("s"):
		s.stop(*row, stopping)
	case k.is("m"):
		s.line = &line{prompt: "to " + row.ID.Short() + "> ", done: func(text string, err error) {
			if err == nil && strings.TrimSpace(text) != "" {
				s.send(ctx, *row, text)
			}
		}}
	}
	return nil
}

// reading is the line that the user types, or nil.
func (s *screen) reading() *line {
	if s.line != nil || s.asked == nil {
		return s.line
	}
	_, l, _ := s.asked.pane.shown()
	return l
}

// open lets another jp have the terminal: to look at the turn, to settle it, or to ask on.
func (s *screen) open(ctx context.Context, row live.Row) error {
	command := "chat"
	switch {
	case row.PID != 0:
		command = "attach"
	case row.Group == live.NeedsYou:
		command = "continue"
	}
	s.endQuestion()
	s.keyboard.close()
	if err := s.screen.Close(); err != nil {
		return err
	}
	code, err := (ui.Self{Env: s.env}).At(ctx, row.Place, command, string(row.ID))
	switch code {
	case problem.ExitUsage, problem.ExitLocked, problem.ExitNotFound, problem.ExitDamaged: // else the row shows how it ended
		s.note = row.ID.Short() + " did not open. Leave with q to read why."
	}
	if err != nil {
		return err
	}
	keyboard, err := openKeyboard(ctx, s.tty)
	if err == nil {
		s.keyboard = keyboard
	}
	return err
}

// stop ends the turn of a row, if its key was typed twice.
func (s *screen) stop(row live.Row, stopping string) {
	_, client := s.board.Reach(row.Key())
	switch {
	case client == nil:
		s.note = row.ID.Short() + " does not run."
	case stopping != row.Key():
		s.stopping, s.note = row.Key(), "s once more stops "+row.ID.Short()+": "+row.Title
	default:
		s.note = "Stopping " + row.ID.Short() + "."
		if err := client.Send(&attach.Interrupt{Action: "stop"}); err != nil {
			s.note = safetext.OneLine(err.Error())
		}
	}
}

// send gives a message to a conversation, as jp send does.
func (s *screen) send(ctx context.Context, row live.Row, text string) {
	s.note = "Sending to " + row.ID.Short() + "."
	cmd := exec.CommandContext(ctx, version.OwnProgram(), "-C", row.Place, "send", string(row.ID), "-")
	cmd.Args[0], cmd.Env, cmd.Stdin = os.Args[0], s.env.Environ, strings.NewReader(text)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	go func() {
		err := cmd.Run()
		said := strings.Split(strings.TrimSpace(out.String()), "\n")
		s.told <- safetext.OneLine(said[map[bool]int{true: 0, false: len(said) - 1}[err != nil]]) // the error, or the progress
	}()
}
