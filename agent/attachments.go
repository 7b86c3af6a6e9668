package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/tool/recall"
	"jp/turnloop"
)

// What may go with one request, in bytes and files: providers take no more, and
// it stays in the repository.
const (
	maxPicture    = 5 << 20
	maxText       = 4 << 20 // more than any model reads
	maxRequest    = 20 << 20
	maxFiles      = 200
	FromStdin     = "-"
	stdinFileName = "stdin"
)

// A requestFile is something that goes with a request: a file, a picture, or
// another conversation.
type requestFile struct {
	name      string
	path      string // where it was read; "" for what is no file
	mediaType string
	data      []byte
}

// requestFiles reads what -a names.
func (q *query) requestFiles(ctx context.Context) ([]requestFile, error) {
	var files []requestFile
	size := 0
	for _, word := range q.opts.Attachments {
		more, err := q.requestFile(ctx, word)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			if slices.ContainsFunc(files, func(g requestFile) bool { return g.name == f.name }) {
				continue
			}
			if size += len(f.data); size > maxRequest {
				return nil, problem.Usage("what -a names has more than %s; that is too much for one request.", repo.ByteCount(maxRequest))
			}
			files = append(files, f)
		}
	}
	if len(files) > maxFiles {
		return nil, problem.Usage("-a names %d files; %d are allowed.", len(files), maxFiles)
	}
	return files, nil
}

// requestFile reads what one -a names: standard input, a conversation, a file, or
// all files that a pattern fits.
func (q *query) requestFile(ctx context.Context, word string) ([]requestFile, error) {
	if word == "" {
		return nil, problem.Usage("-a is empty; it names nothing.")
	}
	if q.namesConversation(word) {
		f, err := q.attachedConversation(ctx, word)
		return []requestFile{f}, err
	}
	if word == FromStdin {
		data, err := io.ReadAll(io.LimitReader(q.front.Input(), maxRequest+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		f, err := newRequestFile(stdinFileName, "", data)
		return []requestFile{f}, err
	}
	paths, err := q.matching(word)
	if err != nil {
		return nil, err
	}
	var files []requestFile
	for _, path := range paths {
		f, err := readRequestFile(path, q.shownPath(path, filepath.IsAbs(word)))
		if err != nil && len(paths) > 1 { // a pattern takes what can be sent
			q.env.Note("Not attached: %s", repo.ProblemOf(err).Message)
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// namesConversation reports whether a word stands for a conversation, by its id or the
// end of one, or as recent or newest. Not by its title: a file that is not there may
// be in one. A file of that name comes first.
func (q *query) namesConversation(word string) bool {
	id, _ := repo.SplitTarget(word)
	if _, err := conversation.ParseID(id); err != nil && id != "recent" && id != "newest" && len(q.repo.Find().EndingIn(id)) == 0 {
		return false
	}
	_, err := os.Lstat(q.inDir(word))
	return err != nil
}

// inDir is where a path leads that is named on the command line.
func (q *query) inDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(q.env.Dir, path)
}

// matching are the files that a word names: the one of that name, else those
// that it fits as a pattern, but for git's own.
func (q *query) matching(word string) ([]string, error) {
	path := q.inDir(word)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, problem.Usage("%s is a folder.", word).Hint("jp query -a "+safetext.Escape(strings.TrimRight(word, "/")+"/**")+" …", "all files in it")
	case err == nil:
		return []string{path}, nil
	case !strings.ContainsAny(word, "*?[{"):
		return nil, problem.Usage("there is no file %s to attach, and no conversation that ends so.", word).Hint("jp ls", "the conversations there are")
	}
	found, err := doublestar.FilepathGlob(path, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return nil, problem.Usage("%q is no pattern for files.", word)
	}
	found = slices.DeleteFunc(found, func(p string) bool {
		return slices.Contains(strings.Split(p, string(filepath.Separator)), ".git")
	})
	if len(found) == 0 {
		return nil, problem.Usage("no file fits the pattern %q.", word)
	}
	slices.Sort(found)
	return found, nil
}

// readRequestFile reads one file, without waiting for whoever writes a pipe.
func readRequestFile(path, name string) (requestFile, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return requestFile{}, unreadable(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return requestFile{}, problem.Usage("%s is no regular file.", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRequest+1))
	if err != nil {
		return requestFile{}, unreadable(name, err)
	}
	return newRequestFile(name, name, data)
}

func unreadable(name string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return problem.Usage("%s cannot be read: %v.", name, err)
}

// shownPath is a path from the root of the working tree, where it lies in it,
// else as it was named.
func (q *query) shownPath(path string, absolute bool) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(q.repo.TopLevel, abs); err == nil && q.repo.TopLevel != "" && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(q.env.Dir, path); err == nil && !absolute {
		return filepath.ToSlash(rel)
	}
	return path
}

// reserved are names of payloads that mean something else.
var reserved = []string{
	conversation.PayloadText, conversation.PayloadArguments, conversation.PayloadTools, conversation.PayloadProvider, conversation.PayloadOutput,
}

// newRequestFile finds out what a file is. What no model can be shown is refused.
func newRequestFile(name, path string, data []byte) (requestFile, error) {
	f := requestFile{name: strings.ToValidUTF8(name, "\uFFFD"), path: path, mediaType: mediaType(data), data: data}
	if slices.Contains(reserved, name) {
		f.name = "./" + name
	}
	switch {
	case len(data) == 0:
		return f, problem.Usage("%s is empty.", name)
	case len(data) > maxRequest:
		return f, problem.Usage("%s has more than %s.", name, repo.ByteCount(maxRequest))
	case f.mediaType == "":
		return f, problem.Usage("%s is neither a text, nor a picture (PNG, JPEG, GIF, WebP), nor a PDF.", name)
	case f.mediaType == "text/plain" && len(data) > maxText:
		return f, problem.Usage("the text %s has %s; %s are allowed.", name, repo.ByteCount(len(data)), repo.ByteCount(maxText))
	case strings.HasPrefix(f.mediaType, "image/") && len(data) > maxPicture:
		return f, problem.Usage("the picture %s has %s; %s are allowed.", name, repo.ByteCount(len(data)), repo.ByteCount(maxPicture))
	}
	return f, nil
}

// mediaType is what the bytes are, "" for what no model reads.
func mediaType(data []byte) string {
	found, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"}, found) {
		return found
	}
	if utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		return "text/plain"
	}
	return ""
}

// attachedConversation is what was said in another conversation, or in one turn
// of it.
func (q *query) attachedConversation(ctx context.Context, word string) (requestFile, error) {
	arguments := map[string]any{"include": []string{"chat"}}
	id, event, found := strings.Cut(word, "@")
	known, err := q.repo.Find().Resolve(ctx, q.env, id)
	switch {
	case err != nil:
		return requestFile{}, err
	case known == q.id:
		return requestFile{}, problem.Usage("%s cannot be attached: it is the conversation that you ask in, which the model has before it anyway.", word).
			Hint(`jp query "…"`, "ask here, without -a").Hint("jp query --new -a "+safetext.Escape(word)+` "…"`, "ask about it in a new conversation")
	}
	arguments["id"] = known
	name := string(known)
	if found {
		name += "@" + event
		v, err := q.repo.Find().View(ctx, q.env, string(known))
		if err != nil {
			return requestFile{}, err
		}
		at, err := repo.SelectEvent(v.Events, event, v.ID, q.env.Now())
		if err != nil {
			return requestFile{}, err
		}
		arguments["turn"] = at.Turn
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return requestFile{}, err
	}
	tools := recall.Tools(q.repo.Store)
	reader := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Definition().Name == "conversation_read" })
	result, err := tools[reader].Run(ctx, tool.Call{Conversation: q.id, Arguments: text})
	if err != nil {
		return requestFile{}, err
	}
	if result.IsError {
		f := problem.Usage("%s cannot be attached: %s.", word, strings.TrimRight(string(result.Content), ".\n"))
		if !found {
			f.Hint("jp query -a "+safetext.Escape(id)+`@turn:N "…"`, "only one turn of it")
		}
		return requestFile{}, f
	}
	return newRequestFile(name, "", result.Content)
}

// attachTo adds files to a request.
func attachTo(r *turnloop.Request, files []requestFile) {
	for _, f := range files {
		r.Chat.Attachments = append(r.Chat.Attachments, conversation.Attachment{Name: f.name, MediaType: f.mediaType, Path: f.path})
		r.Attachments = append(r.Attachments, conversation.Payload{Name: f.name, MediaType: f.mediaType, Data: f.data})
	}
}

// repeat gives a request what went with an earlier one.
func repeat(r *turnloop.Request, earlier *conversation.Event) {
	asked := earlier.Body.(*conversation.ChatRequest)
	if r.Chat.Schema == nil {
		r.Chat.Schema = asked.Schema
	}
	for _, a := range asked.Attachments {
		if p := earlier.Payload(a.Name); p != nil {
			r.Chat.Attachments = append(r.Chat.Attachments, a)
			r.Attachments = append(r.Attachments, *p)
		}
	}
}
