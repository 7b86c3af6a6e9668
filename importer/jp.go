package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
)

// JP is the name of the format that jp export writes.
const JP = "jp"

// maxExported bounds one event of an export: the largest event, in base64.
const maxExported = 72 << 20

var errLarge = errors.New("an event is over 72 MiB")

// A bounded reader ends if one value of a file exceeds a limit.
type boundedReader struct {
	in   io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// An exportHead has the fields of an export before its events.
type exportHead struct {
	Version int             `json:"jp_export"`
	ID      conversation.ID `json:"conversation"`
	Head    string          `json:"head"`
}

// readExport reads an export, and gives the head before the first event.
func readExport(ctx context.Context, file io.Reader, event func(head exportHead, e *conversation.Event) error) error {
	in := &boundedReader{in: file, left: maxExported}
	d := json.NewDecoder(in)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	var head exportHead
	fields := map[string]any{"jp_export": &head.Version, "conversation": &head.ID, "head": &head.Head}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key == "events" {
			break
		}
		to, known := fields[key.(string)]
		if !known {
			to = new(json.RawMessage)
		}
		if err := d.Decode(to); err != nil {
			return err
		}
	}
	if _, err := conversation.ParseID(string(head.ID)); err != nil || head.Version != 1 {
		return errors.New("it is no export of jp, or of a newer one")
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("it has no events")
	}
	for n := 0; d.More(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		in.left = maxExported
		var line json.RawMessage
		if err := d.Decode(&line); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		e, err := conversation.DecodeExchange(line)
		if err == nil && e.Seq != n {
			err = fmt.Errorf("it has the number %d", e.Seq)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		if err := event(head, e); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// Export imports an output of jp export: a copy of the conversation, with other commits and the files of
// HEAD, whose first event names the original.
func Export(ctx context.Context, r *repo.Repo, path string, dry bool) (*Report, error) {
	file, err := Open(path)
	if err != nil {
		return nil, problem.New(problem.ExitNotFound, "not_found", "cannot read the export: %v.", err)
	}
	defer file.Close()
	rep, err := checkExport(ctx, file, path)
	if err != nil {
		return nil, problem.New(problem.ExitFailed, "usage", "%s cannot be imported: %v.", path, err)
	}
	rep.DryRun = dry
	release, err := hold(ctx, r, rep)
	if err != nil {
		return nil, err
	}
	defer release()
	store, err := r.Standings().RecordStore()
	if err != nil {
		return nil, err
	}
	w := &writer{ctx: ctx, store: store, id: rep.ID, dry: dry}
	have, err := w.open(JP, rep.Session)
	if err != nil {
		return nil, err
	}
	tree := ""
	if len(have) == 0 {
		if tree, err = headTree(ctx, r); err != nil {
			return nil, err
		}
	}
	b, by := newBuilder(JP, have, rep, w.add), 1
	if err = b.begin(rep.origin(rep.Session), tree, rep.Started); err == nil {
		err = readExport(ctx, file, func(_ exportHead, e *conversation.Event) error {
			if request, ok := e.Body.(*conversation.ChatRequest); ok && request.Author == "" {
				request.Author = bounded(e.Author)
			}
			if first, ok := e.Body.(*conversation.Metadata); ok && e.Seq == 0 && first.Labels[labelFormat] == JP {
				by = 0 // the new first event takes its place
				return nil
			}
			e.Detach(by)
			b.at = e.Time
			return b.copy(e)
		})
	}
	if err == nil {
		err = w.write()
	}
	if err != nil {
		return nil, failure(fmt.Errorf("import %s: %w", path, err), rep)
	}
	rep.Ended, rep.State = b.at, stateOf(len(have), rep.Added)
	return rep, nil
}

// checkExport reads all of an export before anything of it is written.
func checkExport(ctx context.Context, file *os.File, path string) (*Report, error) {
	rep := &Report{Format: JP, File: path, Files: notRebuilt, Forks: []Part{}, Children: []Part{}, LeftOut: map[string]int{}, Unknown: map[string]int{}, Refused: map[string]int{}}
	err := readExport(ctx, file, func(head exportHead, e *conversation.Event) error {
		if e.Seq == 0 {
			rep.Session, rep.Started = string(head.ID), e.Time
			rep.ID = IDOf(JP, string(head.ID), e.Time)
		}
		if e.Model != "" && e.Role() == conversation.RoleAssistant {
			rep.Model = e.Model
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case rep.ID == "":
		return nil, errors.New("it has no events")
	case rep.Started.Year() < 2002 || rep.Started.Year() > 2199:
		return nil, fmt.Errorf("it begins in the year %d", rep.Started.Year())
	}
	_, err = file.Seek(0, io.SeekStart)
	return rep, err
}
