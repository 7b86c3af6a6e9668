package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"jp/conversation"
	"jp/provider"
)

// ErrScript is wrapped by every error of an invalid script.
var ErrScript = errors.New("not a script")

// file is a script as it is written.
type file struct {
	Context   int     `toml:"context"` // tokens that the model can read; 0: any
	Reply     []reply `toml:"reply"`
	Summaries []reply `toml:"summary"` // answers to requests for a summary, counted apart
}

type reply struct {
	Reasoning  string     `toml:"reasoning"`
	Message    string     `toml:"message"`
	Data       any        `toml:"data"`
	ToolCalls  []toolCall `toml:"tool_call"`
	ChunkSize  int        `toml:"chunk_size"`
	ChunkDelay duration   `toml:"chunk_delay"`
	RawChunks  bool       `toml:"raw_chunks"`
	Fail       string     `toml:"fail"`
	FailAfter  int        `toml:"fail_after"`
	FailTimes  int        `toml:"fail_times"`
	Hang       bool       `toml:"hang"`
	Times      int        `toml:"times"` // for how many calls in a row; 0 is one
	Finish     string     `toml:"finish"`
	Usage      *usage     `toml:"usage"`

	data string // Data as JSON
}

type toolCall struct {
	ID        string         `toml:"id"`
	Name      string         `toml:"name"` // the registry's
	Arguments map[string]any `toml:"arguments"`
	Malformed *string        `toml:"malformed"`

	text string // the arguments as sent
}

type usage struct {
	Input      int    `toml:"input"`
	Output     int    `toml:"output"`
	CacheRead  int    `toml:"cache_read"`
	CacheWrite int    `toml:"cache_write"`
	CostUSD    string `toml:"cost_usd"`
}

func (u *usage) check() error {
	switch {
	case u == nil:
	case u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0:
		return errors.New("usage: a number is negative")
	case u.CostUSD != "" && conversation.AddDecimals(u.CostUSD, "") == "":
		return fmt.Errorf("usage: cost_usd = %q: want an amount such as \"0.004\"", u.CostUSD)
	}
	return nil
}

// duration is a time.Duration as Go writes it, "20ms".
type duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}

// Open reads a script from a file.
func Open(path string) (*Provider, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return parse(path, text)
}

func parse(name string, text []byte) (*Provider, error) {
	var f file
	decoder := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return nil, located(name, err)
	}
	if f.Context < 0 {
		return nil, fmt.Errorf("%w: %s: context is negative", ErrScript, name)
	}
	for i := range f.Reply {
		if err := f.Reply[i].prepare(); err != nil {
			return nil, fmt.Errorf("%w: %s: reply %d: %w", ErrScript, name, i+1, err)
		}
	}
	for i := range f.Summaries {
		if err := f.Summaries[i].prepare(); err != nil {
			return nil, fmt.Errorf("%w: %s: summary %d: %w", ErrScript, name, i+1, err)
		}
	}
	return &Provider{name: name, context: f.Context, replies: f.Reply, summaries: f.Summaries}, nil
}

// located adds the line of an error in the file.
func located(name string, err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := unknown.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf("%w: %s:%d: unknown key %s", ErrScript, name, line, dotted(first.Key()))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return fmt.Errorf("%w: %s:%d: %w", ErrScript, name, line, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrScript, name, err)
}

func dotted(key toml.Key) string {
	text := ""
	for i, part := range key {
		if i > 0 {
			text += "."
		}
		text += part
	}
	return text
}

var failures = []provider.Class{
	provider.ClassOverloaded, provider.ClassRateLimit, provider.ClassAuth,
	provider.ClassDisconnect, provider.ClassTimeout, provider.ClassContext,
}

var finishes = []conversation.Finish{
	conversation.FinishStop, conversation.FinishToolCalls, conversation.FinishLength, conversation.FinishContext,
	conversation.FinishRefusal, conversation.FinishFiltered, conversation.FinishPause,
}

// prepare checks the reply and encodes its JSON parts.
func (r *reply) prepare() error {
	switch {
	case r.Fail != "" && !slices.Contains(failures, provider.Class(r.Fail)):
		return fmt.Errorf("fail = %q: want one of %q", r.Fail, failures)
	case r.Fail == "" && (r.FailAfter != 0 || r.FailTimes != 0):
		return errors.New("fail_after and fail_times need fail")
	case r.Finish != "" && !slices.Contains(finishes, conversation.Finish(r.Finish)):
		return fmt.Errorf("finish = %q: want one of %q", r.Finish, finishes)
	case r.ChunkSize < 0 || r.ChunkDelay < 0 || r.FailAfter < 0 || r.FailTimes < 0 || r.Times < 0:
		return errors.New("a number is negative")
	}
	if err := r.Usage.check(); err != nil {
		return err
	}
	if r.Data != nil {
		text, err := encode(r.Data)
		if err != nil {
			return fmt.Errorf("data: %w", err)
		}
		r.data = text
	}
	for i := range r.ToolCalls {
		if err := r.ToolCalls[i].prepare(); err != nil {
			return fmt.Errorf("tool_call %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *toolCall) prepare() error {
	switch {
	case c.Name == "":
		return errors.New("name is missing")
	case c.Malformed != nil && c.Arguments != nil:
		return errors.New("both arguments and malformed")
	case c.Malformed != nil:
		c.text = *c.Malformed
	case c.Arguments == nil:
		c.text = "{}"
	default:
		text, err := encode(c.Arguments)
		if err != nil {
			return fmt.Errorf("arguments: %w", err)
		}
		c.text = text
	}
	return nil
}

// encode writes a TOML value as JSON, without the escapes that HTML needs.
func encode(value any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

// fails reports whether the reply fails after that many failed tries. Without
// fail_times it always does.
func (r *reply) fails(failed int) bool {
	times := r.FailTimes
	if times == 0 {
		times = math.MaxInt
	}
	return r.Fail != "" && failed < times
}
