package contextfiles

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
	"jp/internal/action"
	"jp/tool"
	"jp/tool/recall"
	"jp/turnloop"
)

// The limits of one request's attachments, in bytes and files: of the providers, and since attachments stay
// in the repository.
const (
	maxPicture    = 5 << 20
	maxText       = 4 << 20 // more than any model reads
	maxRequest    = 20 << 20
	maxFiles      = 200
	FromStdin     = "-"
	stdinFileName = "stdin"
)

// An AttachmentSource resolves the words of -a.
type AttachmentSource struct {
	Repo  *repo.Repo
	Env   *repo.Host
	ID    conversation.ID // of the conversation that is asked in
	Fresh bool            // that one is new
	Input io.Reader       // standard input
	// Resource reads a resource of an MCP server. It is nil without servers.
	Resource func(ctx context.Context, server, uri string) ([]byte, error)
}

// An Attachment is something that goes with a request: a file, a picture, or
// another conversation.
type Attachment struct {
	name      string
	path      string // the place of the file that was read, or ""
	mediaType string
	data      []byte
}

// Read reads the attachments that words name.
func (s AttachmentSource) Read(ctx context.Context, words []string) ([]Attachment, error) {
	var files []Attachment
	size := 0
	for _, word := range words {
		more, err := s.one(ctx, word)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			if slices.ContainsFunc(files, func(g Attachment) bool { return g.name == f.name }) {
				continue
			}
			if size += len(f.data); size > maxRequest {
				return nil, problem.Usage("what -a names has more than %s; that is too much for one request.", conversation.ByteCount(maxRequest))
			}
			files = append(files, f)
		}
	}
	if len(files) > maxFiles {
		return nil, problem.Usage("-a names %d files; %d are allowed.", len(files), maxFiles)
	}
	return files, nil
}

// one reads the attachments of one -a: standard input, a conversation, a file, or all files that match a
// pattern.
func (s AttachmentSource) one(ctx context.Context, word string) ([]Attachment, error) {
	if word == "" {
		return nil, problem.Usage("-a is empty; it names nothing.")
	}
	if rest, is := strings.CutPrefix(word, "mcp:"); is && s.Resource != nil {
		if _, err := os.Lstat(s.inDir(word)); err != nil { // a file of that name comes first
			return s.resource(ctx, word, rest)
		}
	}
	if s.namesConversation(word) {
		f, err := s.attachedConversation(ctx, word)
		return []Attachment{f}, err
	}
	if word == FromStdin {
		data, err := io.ReadAll(io.LimitReader(s.Input, maxRequest+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		f, err := newFile(stdinFileName, "", data)
		return []Attachment{f}, err
	}
	paths, err := s.matching(word)
	if err != nil {
		return nil, err
	}
	var files []Attachment
	for _, path := range paths {
		f, err := readFile(path, s.shownPath(path, filepath.IsAbs(word)))
		if err != nil && len(paths) > 1 { // a pattern skips unsuitable files
			s.Env.Note("Not attached: %s", repo.ProblemOf(err).Message)
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (s AttachmentSource) resource(ctx context.Context, word, rest string) ([]Attachment, error) {
	server, uri, found := strings.Cut(rest, ":")
	if !found || server == "" || uri == "" {
		return nil, problem.Usage("%s names no resource (want mcp:SERVER:URI).", word)
	}
	data, err := s.Resource(ctx, server, uri)
	if err != nil {
		return nil, problem.Usage("jp cannot attach %s: %v.", word, err)
	}
	f, err := newFile(word, "", data)
	return []Attachment{f}, err
}

// namesConversation reports whether a word stands for a conversation, by its id or the end of one, or as
// recent or newest. Titles are excluded, since one may contain the name of a missing file. A file of that
// name comes first.
func (s AttachmentSource) namesConversation(word string) bool {
	id, _ := repo.SplitTarget(word)
	if _, err := conversation.ParseID(id); err != nil && id != "recent" && id != "newest" && len(s.Repo.Find().EndingIn(id)) == 0 {
		return false
	}
	_, err := os.Lstat(s.inDir(word))
	return err != nil
}

// inDir is the absolute path of one on the command line.
func (s AttachmentSource) inDir(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Env.Dir, path)
}

// matching are the files that a word names: the one of that name, else those that match it as a pattern,
// except git's own.
func (s AttachmentSource) matching(word string) ([]string, error) {
	path := s.inDir(word)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, problem.Usage("%s is a folder.", word).Hint(action.AskFolder(strings.TrimRight(word, "/")+"/**"), "all files in it")
	case err == nil:
		return []string{path}, nil
	case !strings.ContainsAny(word, "*?[{"):
		return nil, problem.Usage("there is no file %s to attach, and no conversation that ends so.", word).Hint(action.List, "the conversations there are")
	}
	found, err := doublestar.FilepathGlob(path, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return nil, problem.Usage("invalid file pattern %q.", word)
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

// readFile reads one file, without waiting for the writer of a pipe.
func readFile(path, name string) (Attachment, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Attachment{}, UnreadableAttachment(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Attachment{}, problem.Usage("%s is not a regular file.", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRequest+1))
	if err != nil {
		return Attachment{}, UnreadableAttachment(name, err)
	}
	return newFile(name, name, data)
}

func UnreadableAttachment(name string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return problem.Usage("%s cannot be read: %v.", name, err)
}

// shownPath is a path from the root of the working tree if it lies there, else as the user gave it.
func (s AttachmentSource) shownPath(path string, absolute bool) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(s.Repo.At.TopLevel, abs); err == nil && s.Repo.At.TopLevel != "" && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if rel, err := filepath.Rel(s.Env.Dir, path); err == nil && !absolute {
		return filepath.ToSlash(rel)
	}
	return path
}

// reserved are the names of payloads that have another meaning.
var reserved = []string{
	conversation.PayloadText, conversation.PayloadArguments, conversation.PayloadTools, conversation.PayloadProvider, conversation.PayloadOutput,
}

// NewAttachment is a file whose content is given, under a name. Its kind is found from its bytes.
func NewAttachment(name string, data []byte) (Attachment, error) { return newFile(name, "", data) }

// NewPicture is a picture whose content is given, under a name.
func NewPicture(name string, data []byte) (Attachment, error) {
	f, err := newFile(name, "", data)
	if err == nil && !strings.HasPrefix(f.mediaType, "image/") {
		err = problem.Usage("%s is no picture (want PNG, JPEG, GIF or WebP).", name)
	}
	return f, err
}

// ReadPicture reads the file of a picture, within the size limit of pictures.
func ReadPicture(path string) ([]byte, error) {
	f, err := readFile(path, path)
	return f.data, err
}

// newFile finds the kind of a file. It fails for a kind that models cannot read.
func newFile(name, path string, data []byte) (Attachment, error) {
	f := Attachment{name: strings.ToValidUTF8(name, "\uFFFD"), path: path, mediaType: mediaType(data), data: data}
	if slices.Contains(reserved, name) {
		f.name = "./" + name
	}
	switch {
	case len(data) == 0:
		return f, problem.Usage("%s is empty.", name)
	case len(data) > maxRequest:
		return f, problem.Usage("%s has more than %s.", name, conversation.ByteCount(maxRequest))
	case f.mediaType == "":
		return f, problem.Usage("jp cannot attach %s: want a text, a picture (PNG, JPEG, GIF, WebP) or a PDF.", name)
	case f.mediaType == "text/plain" && len(data) > maxText:
		return f, problem.Usage("the text %s has %s; %s are allowed.", name, conversation.ByteCount(len(data)), conversation.ByteCount(maxText))
	case strings.HasPrefix(f.mediaType, "image/") && len(data) > maxPicture:
		return f, problem.Usage("the picture %s has %s; %s are allowed.", name, conversation.ByteCount(len(data)), conversation.ByteCount(maxPicture))
	}
	return f, nil
}

// mediaType is the media type of the bytes, "" if models cannot read it.
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

// attachedConversation is the text of another conversation, or of one turn of it.
func (s AttachmentSource) attachedConversation(ctx context.Context, word string) (Attachment, error) {
	arguments := map[string]any{"include": []string{"chat"}}
	id, event, found := strings.Cut(word, "@")
	known, err := s.Repo.Find().Resolve(ctx, s.Env, id)
	switch {
	case err != nil:
		return Attachment{}, err
	case known == s.ID:
		return Attachment{}, problem.Usage("%s cannot be attached: it is the conversation that you ask in, which the model has before it anyway.", word).
			Hint(action.AskIn(s.ID.Short()), "ask here, without -a").Hint(action.AskAboutNew(word), "ask about it in a new conversation")
	}
	arguments["id"] = known
	name := string(known)
	if found {
		name += "@" + event
		v, err := s.Repo.Find().View(ctx, s.Env, string(known))
		if err != nil {
			return Attachment{}, err
		}
		at, err := repo.SelectEvent(v.Events, event, v.ID, s.Env.Now())
		if err != nil {
			return Attachment{}, err
		}
		arguments["turn"] = at.Turn
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return Attachment{}, err
	}
	tools := recall.Tools(s.Repo.Store)
	reader := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Definition().Name == "conversation_read" })
	result, err := tools[reader].Run(ctx, tool.Call{Conversation: s.ID, Arguments: text})
	if err != nil {
		return Attachment{}, err
	}
	if result.IsError {
		why, _, _ := strings.Cut(string(result.Content), "; ") // the rest is for a model
		f := problem.Usage("jp cannot attach %s: %s.", word, strings.TrimRight(why, ".\n"))
		if strings.Contains(why, recall.ErrTooLarge.Error()) && !found {
			f.Hint(s.aboutTurn(id), "attach one turn of it, number N")
		}
		return Attachment{}, f
	}
	return newFile(name, "", result.Content)
}

// aboutTurn asks the same with one turn of another conversation.
func (s AttachmentSource) aboutTurn(id string) action.Action {
	if s.Fresh {
		return action.AskAboutTurnNew(id)
	}
	return action.AskAboutTurn(s.ID.Short(), id)
}

// AddAttachments adds files to a request.
func AddAttachments(r *turnloop.Request, files []Attachment) {
	for _, f := range files {
		r.Chat.Attachments = append(r.Chat.Attachments, conversation.Attachment{Name: f.name, MediaType: f.mediaType, Path: f.path})
		r.Attachments = append(r.Attachments, conversation.Payload{Name: f.name, MediaType: f.mediaType, Data: f.data})
	}
}

// RepeatAttachments gives a request the attachments of an earlier one.
func RepeatAttachments(r *turnloop.Request, earlier *conversation.Event) {
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
