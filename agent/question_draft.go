package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/titles"
	"jp/conversation"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// scissors is the line in an editor below which lines that begin with # are not
// asked.
const scissors = "# ------------------------ >8 ------------------------"

// recalled is how much of the last answer the editor shows, in lines.
const recalled = 60

// edit lets the user write the text. The draft stays where it is until the
// question is recorded, so that no way to end loses it; one that is there comes
// into the editor again, above what the command line says.
func (q *query) edit(ctx context.Context, text string) (string, error) {
	if q.opts.NoPersist {
		return q.editAside(ctx, text)
	}
	kept, err := q.keptDraft()
	if err != nil {
		return "", err
	}
	if kept != "" && kept != text {
		text = strings.TrimSpace(kept + "\n\n" + text)
	}
	shown := []byte(text + "\n\n" + q.besideDraft())
	if err := q.repo.Own().Replace(repo.DraftsFolder, q.draft(), shown, safefile.Options{Volatile: true}); err != nil {
		return "", err
	}
	if err := q.front.Edit(ctx, q.repo.Place(), filepath.Join(q.repo.CommonDir, safefile.StateDirName, repo.DraftsFolder, q.draft())); err != nil {
		return "", err
	}
	written, err := q.keptDraft()
	if written == "" && err == nil {
		err = q.repo.Own().Remove(repo.DraftsFolder, q.draft())
	}
	q.drafted = written
	return written, err
}

// keptDraft is what a draft asks, "" where there is none.
func (q *query) keptDraft() (string, error) {
	text, err := q.repo.Own().Read(repo.DraftsFolder, q.draft())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return asksOf(string(text)), err
}

// asksOf is what is asked of what stands in an editor.
func asksOf(text string) string {
	var asks strings.Builder
	below := false
	for line := range strings.Lines(text) {
		below = below || strings.TrimRight(line, "\r\n") == scissors
		if !below || !strings.HasPrefix(line, "#") {
			asks.WriteString(line)
		}
	}
	return strings.TrimSpace(asks.String())
}

// besideDraft is what the editor shows below the text: what it is about.
func (q *query) besideDraft() string {
	var b strings.Builder
	fmt.Fprintln(&b, scissors)
	fmt.Fprintln(&b, "# Lines with # from here on are not asked. An empty text asks nothing.")
	title := "a new conversation"
	if !q.fresh {
		title = string(q.id)
	}
	fmt.Fprintf(&b, "# %s, %s\n", title, problem.OneLine(q.model))
	if q.discarded != nil {
		for _, a := range q.discarded.Body.(*conversation.ChatRequest).Attachments {
			fmt.Fprintf(&b, "# %s goes along, as with the discarded question.\n", problem.OneLine(a.Name))
		}
	}
	lines := strings.Split(safetext.Clean(q.lastAnswer()), "\n")
	if len(lines) > recalled {
		lines = append(lines[:recalled], "…")
	}
	if lines[0] != "" {
		fmt.Fprintf(&b, "#\n# The last answer:\n#\n# %s\n", strings.Join(lines, "\n# "))
	}
	return b.String()
}

// lastAnswer is what the model said last, "" if that is nothing.
func (q *query) lastAnswer() string {
	text := ""
	for turn := range conversation.Turns(q.stream.Events()) {
		ledger := turn.Ledger()
		if call := ledger.LastCall(); call != nil && !ledger.Discarded {
			text = titles.Answered(call)
		}
	}
	return strings.TrimSpace(text)
}

// forgetDraft removes a draft that is recorded. What waits to be asked still
// stays.
func (q *query) forgetDraft(asked string) {
	if kept, err := q.keptDraft(); err == nil && (kept == q.drafted || kept == strings.TrimSpace(asked)) {
		_ = q.repo.Own().Remove(repo.DraftsFolder, q.draft()) // it comes into the editor again
	}
}

// draft is the file among the drafts that keeps a text until it is asked.
func (q *query) draft() string {
	name := "new"
	switch {
	case q.forked != nil:
		name = string(q.forked.View.ID) // the fork may be taken back
	case !q.fresh:
		name = string(q.id)
	}
	return name + ".query"
}

// EditText lets the user edit a text in a file of its own.
func EditText(ctx context.Context, r *repo.Repo, front Frontend, initial []byte, ext string) ([]byte, error) {
	drafts, err := r.Own().Open(repo.DraftsFolder)
	if err != nil {
		return nil, err
	}
	defer drafts.Close()
	f, err := os.CreateTemp(filepath.Join(r.CommonDir, safefile.StateDirName, repo.DraftsFolder), "edit-*"+ext)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(initial)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := front.Edit(ctx, r.Place(), f.Name()); err != nil {
		return nil, err
	}
	return os.ReadFile(f.Name())
}
