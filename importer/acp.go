package importer

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"jp/conversation"
)

// ACP reads the logs that jp record acp keeps of a session of the Agent Client Protocol: one JSON object a line.
var ACP Format = acp{}

type acp struct{}

func (acp) Name() string                           { return "acp" }
func (acp) Folder(func(string) string) string      { return "" }
func (acp) Files(string, string) ([]string, error) { return nil, nil } // an imported log is removed

// ACPLine is a line of a log. The first one has the session, and each other one a message.
type ACPLine struct {
	At      time.Time       `json:"at"`
	Session string          `json:"session,omitempty"`
	Folder  string          `json:"folder,omitempty"`
	Model   string          `json:"model,omitempty"`   // of a prompt: the one that is to answer
	Answers string          `json:"answers,omitempty"` // the method of the request that the message answers
	Call    string          `json:"call,omitempty"`    // of an answer to a request for permission
	Replay  bool            `json:"replay,omitempty"`  // the agent repeats an earlier message
	Message json.RawMessage `json:"message,omitempty"`
}

// ACPLongest is the longest message that a line can have.
const ACPLongest = maxRecord - 4096

// ACPMessage is a message of the protocol, as far as a recording needs it.
type ACPMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Session string      `json:"sessionId"`
		Folder  string      `json:"cwd"`
		Model   string      `json:"modelId"`
		Prompt  []acpBlock  `json:"prompt"`
		Update  ACPUpdate   `json:"update"`
		Call    ACPUpdate   `json:"toolCall"`
		Options []acpOption `json:"options"` // of a permission
	} `json:"params"`
	Result struct {
		Session string `json:"sessionId"`
		Stop    string `json:"stopReason"`
		Outcome struct {
			Kind   string `json:"outcome"`
			Option string `json:"optionId"`
		} `json:"outcome"`
		Agent struct {
			Name string `json:"name"`
		} `json:"agentInfo"`
		Models struct {
			Current string `json:"currentModelId"`
		} `json:"models"`
		Options ACPOptions `json:"configOptions"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

type acpOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// ACPOptions are the options of a session.
type ACPOptions []struct {
	Category string `json:"category"`
	Value    any    `json:"currentValue"`
}

// Model is the chosen model, "" if it is no option.
func (options ACPOptions) Model() string {
	for _, o := range options {
		if name, ok := o.Value.(string); ok && o.Category == "model" {
			return name
		}
	}
	return ""
}

// ACPUpdate is an update of a session, or a tool call of which a permission is asked.
type ACPUpdate struct {
	Kind      string          `json:"sessionUpdate"`
	Message   string          `json:"messageId"`
	Content   json.RawMessage `json:"content"` // a block of a message, or the list of those of a call
	Call      string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Name      string          `json:"name"`
	ToolKind  string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
	Options ACPOptions `json:"configOptions"`
	Meta    struct {
		Claude struct {
			Tool string `json:"toolName"`
		} `json:"claudeCode"`
	} `json:"_meta"`
}

type acpBlock struct {
	Type     string    `json:"type"`
	Text     string    `json:"text"`
	URI      string    `json:"uri"`
	Content  *acpBlock `json:"content"` // of a call
	Resource *acpBlock `json:"resource"`
	Path     string    `json:"path"` // of a diff
	Old      *string   `json:"oldText"`
	New      *string   `json:"newText"`
}

// ReadACP reads a message. Fields of another type than the protocol's stay empty.
func ReadACP(text []byte) (m ACPMessage, ok bool) {
	err := json.Unmarshal(text, &m)
	var other *json.UnmarshalTypeError
	return m, err == nil || errors.As(err, &other)
}

// Ended reports whether a call has its result.
func (u *ACPUpdate) Ended() bool { return u.Status == "completed" || u.Status == "failed" }

func (u *ACPUpdate) blocks() (blocks []acpBlock) {
	_ = json.Unmarshal(u.Content, &blocks) // a call without content has none
	return blocks
}

// Paths are the files that the call changes, as far as it names them.
func (u *ACPUpdate) Paths() (paths []string) {
	for _, b := range u.blocks() {
		if b.Type == "diff" {
			paths = append(paths, b.Path)
		}
	}
	if u.ToolKind == "edit" || u.ToolKind == "delete" || u.ToolKind == "move" {
		for _, l := range u.Locations {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

var acpFinishes = map[string]conversation.Finish{
	"end_turn": conversation.FinishStop, "max_tokens": conversation.FinishLength, "refusal": conversation.FinishRefusal,
}

func (f acp) Decode(file io.ReadSeeker, s *Session, yield func(Record) error) error {
	return f.Begin(file, s, yield)
}

func (acp) Begin(file io.Reader, s *Session, yield func(Record) error) error {
	d := acpDecoder{session: s, yield: yield, calls: map[string]*acpCall{}}
	if err := linesOf(file).each(s, d.line); err != nil || s.live {
		return err
	}
	if err := d.endTurn(""); err != nil || !d.canceled {
		return err
	}
	return d.give(Record{Kind: KindStopped})
}

type acpDecoder struct {
	session *Session
	yield   func(Record) error
	at      time.Time // of the line
	replay  bool      // the line repeats an earlier message
	prompt  string    // the newest one
	model   string

	// The message of which chunks come.
	kind    string
	message string
	text    strings.Builder
	began   time.Time

	calls    map[string]*acpCall
	order    []*acpCall // those of the turn without a result so far
	ended    []*acpCall // whose results wait for the end of the calls beside them
	canceled bool       // the turn
}

type acpCall struct {
	ACPUpdate
	options []acpOption // of its permission
	texts   []string
	edits   []Edit
	given   bool
	over    bool
	refused bool
}

func (d *acpDecoder) line(line []byte) error {
	var l ACPLine
	if json.Unmarshal(line, &l) != nil {
		count(&d.session.Refused, refusedJSON)
		return nil
	}
	if l.Session != "" {
		d.session.ID, d.session.Dir = l.Session, l.Folder
		return nil
	}
	m, ok := ReadACP(l.Message)
	if !ok || l.At.IsZero() {
		count(&d.session.Refused, refusedJSON)
		return nil
	}
	d.at, d.replay = l.At.UTC(), l.Replay
	switch cmp.Or(l.Answers, m.Method) {
	case "session/prompt":
		if l.Answers != "" {
			return d.stop(m)
		}
		if err := d.endTurn(""); err != nil {
			return err
		}
		d.model, d.prompt, d.canceled = l.Model, d.promptText(m.Params.Prompt), false
		if d.prompt != "" {
			return d.give(Record{Kind: KindRequest, Text: d.prompt})
		}
	case "session/cancel":
		d.canceled = true
	case "session/update":
		return d.update(&m.Params.Update)
	case "session/request_permission":
		if l.Answers == "" {
			c := d.take(&m.Params.Call)
			c.options = m.Params.Options
			return d.giveCall(c)
		}
		if c := d.calls[l.Call]; c != nil {
			c.refused = m.Result.Outcome.Kind != "selected"
			for _, o := range c.options {
				c.refused = c.refused || o.ID == m.Result.Outcome.Option && strings.HasPrefix(o.Kind, "reject")
			}
		}
	}
	return nil
}

// give passes on a record behind the message before it.
func (d *acpDecoder) give(rec Record) error {
	if err := d.endMessage(""); err != nil {
		return err
	}
	return d.send(rec)
}

func (d *acpDecoder) send(rec Record) error {
	if rec.At.IsZero() {
		rec.At = d.at
	}
	if d.session.Started.IsZero() {
		d.session.Started = rec.At
	}
	return d.yield(rec)
}

// stop ends a turn with its reason.
func (d *acpDecoder) stop(m ACPMessage) error {
	finish, known := acpFinishes[m.Result.Stop]
	if err := d.endTurn(finish); err != nil {
		return err
	}
	if d.canceled = false; known {
		return nil
	}
	return d.give(Record{Kind: KindStopped})
}

func (d *acpDecoder) update(u *ACPUpdate) error {
	switch u.Kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
		return d.chunk(u)
	case "tool_call", "tool_call_update":
		return d.call(u)
	}
	count(&d.session.LeftOut, kindName(u.Kind))
	return nil
}

func (d *acpDecoder) chunk(u *ACPUpdate) error {
	if d.kind != u.Kind || d.message != "" && u.Message != "" && d.message != u.Message {
		if err := d.endMessage(""); err != nil {
			return err
		}
		d.kind, d.began = u.Kind, d.at
	}
	d.message = cmp.Or(u.Message, d.message)
	var b acpBlock
	if json.Unmarshal(u.Content, &b) != nil || b.Type != "text" {
		count(&d.session.LeftOut, kindName(b.Type))
	}
	d.text.WriteString(b.Text)
	return nil
}

// endMessage passes on the message of which chunks came.
func (d *acpDecoder) endMessage(finish conversation.Finish) error {
	rec := Record{Text: d.text.String(), At: d.began}
	kind := d.kind
	d.kind, d.message = "", ""
	d.text.Reset()
	switch {
	case strings.TrimSpace(rec.Text) == "":
		return nil
	case kind == "agent_message_chunk":
		rec.Kind, rec.Model, rec.Finish = KindText, d.model, finish
	case kind == "agent_thought_chunk":
		rec.Kind, rec.Model, rec.Finish = KindReasoning, d.model, finish
	case rec.Text == d.prompt:
		count(&d.session.LeftOut, "echo of the prompt")
		return nil
	default:
		rec.Kind = KindRequest
		if err := d.endTurn(""); err != nil {
			return err
		}
	}
	return d.send(rec)
}

// take adds an update to what is known of its call.
func (d *acpDecoder) take(u *ACPUpdate) *acpCall {
	c := d.calls[u.Call]
	if c == nil {
		c = &acpCall{ACPUpdate: ACPUpdate{Call: u.Call}}
		d.calls[u.Call] = c
		d.order = append(d.order, c)
	}
	if c.over {
		return c
	}
	c.Title, c.ToolKind, c.Status = cmp.Or(u.Title, c.Title), cmp.Or(u.ToolKind, c.ToolKind), cmp.Or(u.Status, c.Status)
	c.Name = cmp.Or(u.Meta.Claude.Tool, u.Name, c.Name)
	if given(u.Input) {
		c.Input = u.Input
	}
	if given(u.Output) {
		c.Output = u.Output
	}
	if given(u.Content) {
		c.texts = nil
		for _, b := range u.blocks() {
			switch {
			case b.Type == "content" && b.Content != nil && b.Content.Type == "text":
				c.texts = append(c.texts, b.Content.Text)
			case b.Type == "diff" && b.New != nil:
				c.edit(b)
			default:
				count(&d.session.LeftOut, kindName("content of a call", b.Type))
			}
		}
	}
	if d.replay {
		c.edits = nil // the files have changed since
	}
	return c
}

// given reports whether a value has content.
func given(value json.RawMessage) bool {
	text := string(value)
	return text != "" && text != "null" && text != "{}" && text != "[]" && text != `""`
}

// edit adds a diff. Some agents give whole files, and others the parts that they replace.
func (c *acpCall) edit(b acpBlock) {
	e := Edit{Path: b.Path, Replaced: []Replacement{{Old: "", New: *b.New}}}
	if b.Old == nil || *b.Old == "" {
		e.After, e.Replaced = b.New, nil
	} else {
		e.Replaced[0].Old = *b.Old
	}
	for i := range c.edits {
		if is := &c.edits[i]; is.Path == e.Path && (is.After != nil || e.Replaced != nil && is.Replaced[0].Old == e.Replaced[0].Old) {
			*is = e
			return
		}
	}
	c.edits = append(c.edits, e)
}

func (d *acpDecoder) call(u *ACPUpdate) error {
	if d.kind == "user_message_chunk" {
		if err := d.endMessage(""); err != nil {
			return err
		}
	}
	c := d.take(u)
	if c.over {
		return nil
	}
	if len(c.Input) > 0 || c.Status == "in_progress" || c.Ended() {
		if err := d.giveCall(c); err != nil {
			return err
		}
	}
	if !c.Ended() {
		return nil
	}
	return d.end(c)
}

// giveCall passes on a call as soon as its input is known.
func (d *acpDecoder) giveCall(c *acpCall) error {
	if c.given {
		return nil
	}
	c.given = true
	input := c.Input
	if len(input) == 0 {
		input, _ = json.Marshal(map[string]string{"title": c.Title}) // strings have a form in JSON
	}
	return d.give(Record{Kind: KindCall, Model: d.model, CallID: c.Call, Tool: cmp.Or(c.Name, c.ToolKind, "tool"), Arguments: string(input)})
}

// end passes on the results once no call is open: what the model says until then is of the same answer.
func (d *acpDecoder) end(c *acpCall) error {
	c.over = true
	d.ended = append(d.ended, c)
	for _, o := range d.order {
		if !o.over {
			return nil
		}
	}
	d.order = nil
	return d.results()
}

func (d *acpDecoder) results() error {
	ended := d.ended
	d.ended = nil
	for _, c := range ended {
		rec := Record{Kind: KindResult, CallID: c.Call, Text: c.result(), Failed: c.Status != "completed"}
		if !rec.Failed {
			rec.Edits = c.edits
		}
		*c = acpCall{given: true, over: true}
		if err := d.give(rec); err != nil {
			return err
		}
	}
	return nil
}

func (c *acpCall) result() string {
	text := strings.Join(c.texts, "\n")
	if output := textOf(c.Output); text == "" && len(c.Output) > 0 {
		text = cmp.Or(output, string(c.Output))
	}
	switch {
	case text != "":
	case c.refused:
		text = "the user refused the call"
	default:
		for _, e := range c.edits {
			text += "changed " + e.Path + "\n"
		}
	}
	return text
}

// endTurn ends the message and the calls of a turn. An open call may still get its result.
func (d *acpDecoder) endTurn(finish conversation.Finish) error {
	if err := d.endMessage(finish); err != nil {
		return err
	}
	order := d.order
	d.order = nil
	for _, c := range order {
		if err := d.giveCall(c); err != nil {
			return err
		}
		if c.refused && !c.over {
			c.over = true
			d.ended = append(d.ended, c)
		}
	}
	return d.results()
}

// promptText is the text of a prompt, with the addresses of what is attached.
func (d *acpDecoder) promptText(blocks []acpBlock) string {
	var texts []string
	for _, b := range blocks {
		switch {
		case b.Type == "text":
			texts = append(texts, b.Text)
		case b.Type == "resource_link":
			texts = append(texts, b.URI)
		case b.Type == "resource" && b.Resource != nil:
			texts = append(texts, b.Resource.URI)
		default:
			count(&d.session.LeftOut, kindName(b.Type))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
