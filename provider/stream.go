package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"jp/internal/lazy"
)

// A StreamReader makes chunks of the events of one answer. The text of chunks may be cut
// within characters, as a [StreamText] may be.
type StreamReader interface {
	// Read takes the data of an event.
	Read(data []byte) ([]Chunk, error)
	// Reported is the error that a server reports: a JSON value, or words.
	Reported(data []byte) error
	// Finished reports whether the server has said why the answer ends.
	Finished() bool
	// Whole reports whether the answer is complete.
	Whole() bool
	// End are the last chunks of a finished answer, and the last of all is its finish.
	End() []Chunk
}

// errStopped means that the receiver has stopped.
var errStopped = errors.New("the receiver stopped")

// ReceiveStream reads an answer and yields its chunks, up to the finish, or until yield returns false. Its error is
// the caller's context's, an [*Error], or that of the transport.
func ReceiveStream(ctx context.Context, w *StreamWatch, body io.Reader, r StreamReader, yield func(Chunk) bool) error {
	s := &receiver{watch: w, events: newEventReader(watchedBody{body, w}), reader: r, yield: yield}
	err := s.all()
	switch {
	case errors.Is(err, errStopped):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case r.Finished():
		if err := s.emit(r.End()); err != nil {
			return nil
		}
		return nil
	case w.Timeout() != nil:
		return w.Timeout()
	case errors.Is(err, io.EOF) || err == nil:
		return s.early()
	}
	return err
}

// A receiver is an answer on its way.
type receiver struct {
	watch    *StreamWatch
	events   *eventReader
	reader   StreamReader
	yield    func(Chunk) bool
	held     map[int]*held
	answered bool   // something of the answer came
	unread   []byte // other JSON in the place of an answer
}

// held is a part whose text ends within a character.
type held struct {
	kind ChunkKind
	text joiner
}

// all reads up to the end of the answer, which is a success, or of the stream.
func (s *receiver) all() error {
	for !s.reader.Whole() {
		e, err := s.events.next()
		if err != nil {
			return err
		}
		data := bytes.TrimSpace(e.data)
		if isDone(data) {
			return nil
		}
		if e.name == "error" || IsComplaint(data) {
			return s.complained(e.name, data)
		}
		var chunks []Chunk
		switch {
		case len(data) == 0:
		case data[0] == '[':
			chunks, err = s.list(data)
		case data[0] == '{':
			chunks, err = s.reader.Read(data)
		case !json.Valid(data):
			s.events.keep(data)
		}
		if e.bare && len(chunks) == 0 && err == nil && !s.reader.Finished() {
			s.unread = data
		}
		if stopped := s.emit(chunks); stopped != nil {
			return stopped
		}
		if err != nil {
			return err
		}
		if s.reader.Finished() {
			s.watch.finished()
		}
		if len(chunks) == 0 && !s.reader.Whole() {
			if stopped := s.emit([]Chunk{{Kind: ChunkKeepAlive}}); stopped != nil {
				return stopped
			}
		}
	}
	return nil
}

// complained is the error of a complaint. A bare text in the place of an answer, without an error's mark or a
// code, is a refusal: the same request would get it again.
func (s *receiver) complained(name string, data []byte) error {
	c := ComplaintIn(data)
	if name != "error" && !s.answered && !IsMarkedError(data) && c.Code+c.Type+c.Status == "" && ClassOfWords(c.Message) == "" {
		return &Error{Class: ClassInvalid, Message: "the server sent no answer: " + c.Message}
	}
	return s.reader.Reported(data)
}

// list reads an event that holds several.
func (s *receiver) list(data []byte) ([]Chunk, error) {
	var elements []json.RawMessage
	if json.Unmarshal(data, &elements) != nil {
		return s.reader.Read(data) // the error explains it
	}
	var all []Chunk
	for _, element := range elements {
		if IsComplaint(element) {
			return all, s.reader.Reported(element)
		}
		chunks, err := s.reader.Read(element)
		all = append(all, chunks...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// emit yields chunks, whose text it makes UTF-8.
func (s *receiver) emit(chunks []Chunk) error {
	for _, c := range chunks {
		for _, whole := range s.joined(c) {
			if whole.Text != "" || whole.Tool != "" || whole.ToolID != "" || whole.Item != nil {
				s.watch.content()
			}
			s.answered = s.answered || whole.Kind != ChunkKeepAlive
			s.watch.pause()
			more := s.yield(whole)
			s.watch.resume()
			if !more {
				return errStopped
			}
		}
	}
	return nil
}

// joined is a chunk with the held text of its part before its own. Before the end of a part it returns the
// held text.
func (s *receiver) joined(c Chunk) []Chunk {
	switch {
	case c.Kind == ChunkFinish:
		var all []Chunk
		for _, index := range slices.Sorted(maps.Keys(s.held)) {
			all = append(all, s.release(index)...)
		}
		return append(all, c)
	case c.Kind == ChunkClose:
		return append(s.release(c.Index), c)
	case s.held[c.Index] == nil && utf8.ValidString(c.Text):
		return []Chunk{c}
	case s.held == nil:
		s.held = map[int]*held{}
	}
	if s.held[c.Index] == nil {
		s.held[c.Index] = &held{kind: c.Kind}
	}
	c.Text = s.held[c.Index].text.Add(c.Text)
	return []Chunk{c}
}

// release ends the text of a part.
func (s *receiver) release(index int) []Chunk {
	part := s.held[index]
	delete(s.held, index)
	if part == nil {
		return nil
	}
	if left := part.text.End(); left != "" {
		return []Chunk{{Kind: part.kind, Index: index, Text: left}}
	}
	return nil
}

// early is the error of a stream that ended before its answer did.
func (s *receiver) early() error {
	words, class := string(s.events.other), Class("")
	if s.unread != nil {
		words = wordsIn(s.unread)
	}
	words = strings.TrimSpace(words)
	switch class = ClassOfWords(words); {
	case words == "":
		return io.ErrUnexpectedEOF
	case class != "":
	case s.events.events > 0:
		class = ClassDisconnect
	default:
		class = ClassInvalid
	}
	return &Error{Class: class, Message: "the server sent no answer: " + pageTitle(words), Err: io.ErrUnexpectedEOF}
}

// wordsIn is the readable text of a JSON value other than an answer: its message, or all of it.
func wordsIn(value []byte) string {
	var fields struct {
		Message string `json:"message"`
		Detail  string `json:"detail"`
		Msg     string `json:"msg"`
	}
	_ = json.Unmarshal(value, &fields) // fields of other types are ignored
	for _, words := range []string{fields.Message, fields.Detail, fields.Msg} {
		if strings.TrimSpace(words) != "" {
			return words
		}
	}
	return string(value)
}

var titleElement = lazy.Regexp(`(?is)^\s*<.*?<title[^>]*>(.*?)</title>`)

// pageTitle is the title of a page of HTML, or the words themselves.
func pageTitle(words string) string {
	if found := titleElement().FindStringSubmatch(words); found != nil {
		return "a web page, " + strings.TrimSpace(found[1])
	}
	return words
}
