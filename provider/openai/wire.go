package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"jp/conversation"
)

// The fields of the two APIs that jp sends, in the order in which they are sent.
// https://platform.openai.com/docs/api-reference describes them.

// chatRequest is the body of a request to Chat Completions.
type chatRequest struct {
	Messages       []chatMessage   `json:"messages,omitempty"`
	Model          string          `json:"model,omitempty"`
	ParallelCalls  bool            `json:"parallel_tool_calls,omitempty"`
	StreamOptions  *streamOptions  `json:"stream_options,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
	ToolChoice     string          `json:"tool_choice,omitempty"`
	Tools          []chatTool      `json:"tools,omitempty"`

	more map[string]any
}

type chatMessage struct {
	Content    any        `json:"content,omitempty"` // a string or []chatPart
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Role       string     `json:"role"`

	more map[string]any
}

type chatCall struct {
	ID       string       `json:"id"`
	Function chatFunction `json:"function"`
	Type     string       `json:"type"`

	more map[string]any
}

type chatFunction struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

type chatPart struct {
	Text     *string   `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *fileData `json:"file,omitempty"`
	Type     string    `json:"type"`
}

type imageURL struct {
	URL string `json:"url"`
}

type fileData struct {
	Data string `json:"file_data"`
	Name string `json:"filename"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
	Type       string      `json:"type"`
}

// jsonSchema is the schema of an answer, as Chat Completions takes it.
type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict,omitempty"`
	Schema json.RawMessage `json:"schema"`
}

type chatTool struct {
	Function chatDefinition `json:"function"`
	Type     string         `json:"type"`
}

type chatDefinition struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`

	more map[string]any
}

// responsesRequest is the body of a request to Responses.
type responsesRequest struct {
	Instructions    string            `json:"instructions,omitempty"`
	MaxOutputTokens int               `json:"max_output_tokens,omitempty"`
	CacheKey        string            `json:"prompt_cache_key,omitempty"`
	Store           bool              `json:"store"`
	Include         []string          `json:"include,omitempty"`
	CacheRetention  string            `json:"prompt_cache_retention,omitempty"`
	Input           []inputItem       `json:"input,omitempty"`
	Model           string            `json:"model,omitempty"`
	Reasoning       *reasoningOptions `json:"reasoning,omitempty"`
	Text            *textOptions      `json:"text,omitempty"`
	ToolChoice      string            `json:"tool_choice,omitempty"`
	Tools           []responsesTool   `json:"tools,omitempty"`

	more map[string]any
}

// inputItem is a message, a call or the output of one. An item that the server sent goes back as it came.
type inputItem struct {
	Arguments *string `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // a string or []inputPart
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Content   any     `json:"content,omitempty"` // a string or []inputPart
	Role      string  `json:"role,omitempty"`
	Phase     string  `json:"phase,omitempty"`
	Type      string  `json:"type,omitempty"`

	received json.RawMessage
}

// inputPart is a piece of a message, or of an output.
type inputPart struct {
	Text     *string `json:"text,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	ImageURL string  `json:"image_url,omitempty"`
	FileData string  `json:"file_data,omitempty"`
	Name     string  `json:"filename,omitempty"`
	Type     string  `json:"type"`
}

type reasoningOptions struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type textOptions struct {
	Format textFormat `json:"format"`
}

// textFormat is the schema of an answer, as Responses takes it.
type textFormat struct {
	Name   string `json:"name"`
	Strict bool   `json:"strict,omitempty"`
	Type   string `json:"type"`

	more map[string]any
}

type responsesTool struct {
	Strict      bool   `json:"strict"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type"`

	more map[string]any
}

// MarshalJSON implements [json.Marshaler].
func (r chatRequest) MarshalJSON() ([]byte, error) {
	type plain chatRequest
	return encodeWith(plain(r), r.more)
}

// MarshalJSON implements [json.Marshaler].
func (m chatMessage) MarshalJSON() ([]byte, error) {
	type plain chatMessage
	return encodeWith(plain(m), m.more)
}

// MarshalJSON implements [json.Marshaler].
func (c chatCall) MarshalJSON() ([]byte, error) {
	type plain chatCall
	return encodeWith(plain(c), c.more)
}

// MarshalJSON implements [json.Marshaler].
func (d chatDefinition) MarshalJSON() ([]byte, error) {
	type plain chatDefinition
	return encodeWith(plain(d), d.more)
}

// MarshalJSON implements [json.Marshaler].
func (r responsesRequest) MarshalJSON() ([]byte, error) {
	type plain responsesRequest
	return encodeWith(plain(r), r.more)
}

// MarshalJSON implements [json.Marshaler].
func (i inputItem) MarshalJSON() ([]byte, error) {
	type plain inputItem
	if i.received != nil {
		return i.received, nil
	}
	return encode(plain(i))
}

// MarshalJSON implements [json.Marshaler].
func (f textFormat) MarshalJSON() ([]byte, error) {
	type plain textFormat
	return encodeWith(plain(f), f.more)
}

// MarshalJSON implements [json.Marshaler].
func (t responsesTool) MarshalJSON() ([]byte, error) {
	type plain responsesTool
	return encodeWith(plain(t), t.more)
}

// encode is the JSON of a value, with <, > and & unescaped, since some servers count bytes.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// encodeWith is the JSON of an object with further fields. One with a name that the object has takes
// its place, the others follow in the order of their names.
func encodeWith(v any, more map[string]any) ([]byte, error) {
	data, err := encode(v)
	if err != nil || len(more) == 0 {
		return data, err
	}
	fields, err := conversation.ParseObject(data)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		value, err := encodeField(more[name])
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(fields, func(f conversation.Field) bool { return f.Key == name })
		if at < 0 {
			fields = append(fields, conversation.Field{Key: name, Raw: value})
		} else {
			fields[at].Raw = value
		}
	}
	return joinFields(fields), nil
}

// encodeField is the value of a further field. Requests of earlier versions had <, > and & escaped here, but in
// printable ASCII text. A server caches a conversation's prefix by its bytes.
func encodeField(v any) ([]byte, error) {
	text, ok := v.(string)
	special := func(r rune) bool { return r < ' ' || r > 0x7f || r == '"' || r == '\\' }
	if ok && !bytes.ContainsFunc([]byte(text), special) {
		return encode(text)
	}
	return json.Marshal(v)
}

// joinFields is the object of the fields.
func joinFields(fields []conversation.Field) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		key, _ := encode(f.Key) // a string is always JSON
		out.Write(key)
		out.WriteByte(':')
		out.Write(f.Raw)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// decode reads JSON that a server sent. Fields of another form than is documented are left out: servers that speak
// these APIs differ.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var form *json.UnmarshalTypeError
	if errors.As(err, &form) && form.Field != "" {
		return nil
	}
	return err
}

// A chatChunk is an event of an answer of Chat Completions.
type chatChunk struct {
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage"`
}

type chatChoice struct {
	Index        int64           `json:"index"`
	Delta        chatDelta       `json:"delta"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`   // of gateways
	Message      json.RawMessage `json:"message"` // of servers that do not stream
}

// A chatDelta is a piece of an answer. Its raw fields come in several forms.
type chatDelta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	Details          json.RawMessage `json:"reasoning_details"`
	Extra            json.RawMessage `json:"extra_content"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    *int64          `json:"index"`
	ID       string          `json:"id"`
	Extra    json.RawMessage `json:"extra_content"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// number is the call's number from the server, 0 by default.
func (c callDelta) number() int64 {
	if c.Index == nil {
		return 0
	}
	return *c.Index
}

// chatUsage counts tokens. Some servers write whole numbers as fractions.
type chatUsage struct {
	Input        float64      `json:"prompt_tokens"`
	Output       float64      `json:"completion_tokens"`
	InputDetails inputDetails `json:"prompt_tokens_details"`
	CacheHits    float64      `json:"prompt_cache_hit_tokens"` // of DeepSeek
	Cost         *float64     `json:"cost"`                    // of OpenRouter, in USD; nil: not stated
}

type inputDetails struct {
	Cached     float64 `json:"cached_tokens"`
	CacheWrite float64 `json:"cache_write_tokens"`
}

// A responseEvent is an event of an answer of Responses.
type responseEvent struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        json.RawMessage `json:"delta"`
	Text         string          `json:"text"`
	Arguments    string          `json:"arguments"`
	Item         json.RawMessage `json:"item"`
	Response     response        `json:"response"`
}

type response struct {
	Object            string            `json:"object"`
	Status            string            `json:"status"`
	Error             json.RawMessage   `json:"error"`
	IncompleteDetails incompleteDetails `json:"incomplete_details"`
	Output            []json.RawMessage `json:"output"`
	Usage             *responseTokens   `json:"usage"`
}

type incompleteDetails struct {
	Reason string `json:"reason"`
}

type responseTokens struct {
	Input        float64      `json:"input_tokens"`
	Output       float64      `json:"output_tokens"`
	InputDetails inputDetails `json:"input_tokens_details"`
	Cost         *float64     `json:"cost"` // see [chatUsage]
}

// stated is the cost in the server's answer, "" without one.
func stated(cost *float64) string {
	if cost == nil || *cost < 0 {
		return ""
	}
	return strconv.FormatFloat(*cost, 'f', -1, 64)
}
