package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/action"
)

// A Handover is the part that a process in the background gets from the one that started it.
type Handover struct {
	Order    BackgroundOrder
	ID       conversation.ID
	Lock     *os.File // the conversation's, held
	reply    *os.File
	reported bool
}

// TakeHandover takes the handover, and hides it from every program that this process starts.
func TakeHandover(id conversation.ID) (*Handover, error) {
	for fd, kind := range map[int]uint32{lockFD: unix.S_IFREG, orderFD: unix.S_IFIFO, readyFD: unix.S_IFIFO} {
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil || uint32(stat.Mode)&unix.S_IFMT != kind {
			return nil, problem.Usage("jp starts this command itself.").Hint(action.AskDetached, "ask in the background")
		}
		unix.CloseOnExec(fd)
	}
	h := &Handover{ID: id, Lock: os.NewFile(lockFD, "lock"), reply: os.NewFile(readyFD, "ready")}
	orders := os.NewFile(orderFD, "order")
	defer orders.Close()
	if err := json.NewDecoder(io.LimitReader(orders, 1<<20)).Decode(&h.Order); err != nil {
		return nil, fmt.Errorf("read what is to be done in the background: %w", err)
	}
	return h, nil
}

// ready reports that the process goes on by itself from here.
func (h *Handover) ready() error {
	if h == nil || h.reported {
		return nil
	}
	return h.report(report{Ready: true, PID: os.Getpid()})
}

// Failed reports why the process ends, if it has not reported yet. If the turn was complete already, that is
// a success.
func (h *Handover) Failed(err error) {
	if h.reported {
		return
	}
	r := report{PID: os.Getpid(), Ready: err == nil}
	if err != nil {
		f := repo.ProblemOf(err)
		r.Exit, r.Code, r.Message, r.Details = f.Exit, f.Code, f.Message, f.Details
		for _, h := range f.Hints {
			r.Hints = append(r.Hints, hint{h.Action.Kind(), h.Action.Args(), h.Text})
		}
	}
	_ = h.report(r) // if it fails, the other process has gone
}

func (h *Handover) report(r report) error {
	h.reported = true
	err := json.NewEncoder(h.reply).Encode(r)
	return errors.Join(err, h.reply.Close())
}
