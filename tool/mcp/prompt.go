package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jp/conversation"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/tool"
)

// Bounds of the prompts of a server.
const (
	maxPrompts     = 256
	maxArguments   = 32
	maxPromptWords = 200     // characters of a description
	maxPromptText  = 1 << 20 // bytes of the messages together
)

// promptName is a name that a command can have.
var promptName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// A PromptInfo is a prompt as its server lists it, without invisible characters. It grants no permission: the
// user of the prompt sees the text that the server makes of it.
type PromptInfo struct {
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"` // one line
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// A PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
}

// Usage is how the arguments are written: "FILE [STYLE]".
func (p PromptInfo) Usage() string {
	var all []string
	for _, a := range p.Arguments {
		word := strings.ToUpper(a.Name)
		if !a.Required {
			word = "[" + word + "]"
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// arguments reads the arguments of a prompt from the words behind a command. NAME=VALUE gives the argument of
// that name. The other words go to the arguments in their order, and the last argument takes all that are
// left.
func (p PromptInfo) arguments(line string) (map[string]string, error) {
	words, err := safetext.Words(line)
	if err != nil {
		words = strings.Fields(line) // an apostrophe, perhaps
	}
	given := map[string]string{}
	var rest []string
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if _, twice := given[name]; found && !twice && slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == name }) {
			given[name] = value
			continue
		}
		rest = append(rest, word)
	}
	open := slices.DeleteFunc(slices.Clone(p.Arguments), func(a PromptArgument) bool { _, named := given[a.Name]; return named })
	for i, a := range open {
		switch {
		case len(rest) == 0:
		case i == len(open)-1:
			given[a.Name], rest = strings.Join(rest, " "), nil
		default:
			given[a.Name], rest = rest[0], rest[1:]
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: %q is too much (want %s)", ErrPromptArguments, rest[0], cmp.Or(p.Usage(), "no words"))
	}
	for _, a := range p.Arguments {
		if given[a.Name] == "" && a.Required {
			return nil, fmt.Errorf("%w: %s is missing (want %s)", ErrPromptArguments, strings.ToUpper(a.Name), p.Usage())
		}
	}
	return given, nil
}

// listPrompts asks a server for its prompts. known is false if the server's list fails.
func (c *connection) listPrompts(ctx context.Context) (prompts []PromptInfo, known bool) {
	if has := c.session.InitializeResult().Capabilities; has == nil || has.Prompts == nil {
		return nil, true
	}
	var all []*sdk.Prompt
	cursor := ""
	for range maxPages {
		page, err := answered(ctx, c, func(ctx context.Context) (*sdk.ListPromptsResult, error) {
			return c.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
		})
		if err != nil {
			return nil, false
		}
		all = append(all, page.Prompts...)
		if cursor = page.NextCursor; cursor == "" || len(all) > maxPrompts {
			return promptsOf(all), true
		}
	}
	return nil, false
}

// promptsOf are the prompts that can be commands, in the order of their names. Of prompts with one name it is unknown
// which is meant, so all of them are left out.
func promptsOf(all []*sdk.Prompt) []PromptInfo {
	named := map[string]int{}
	for _, p := range all {
		named[p.Name]++
	}
	var prompts []PromptInfo
	for _, p := range all {
		info := PromptInfo{Name: p.Name, Description: conversation.Shorten(words(cmp.Or(p.Description, p.Title)), maxPromptWords)}
		usable := promptName().MatchString(p.Name) && named[p.Name] == 1 && len(p.Arguments) <= maxArguments
		for _, a := range p.Arguments {
			usable = usable && promptName().MatchString(a.Name)
			info.Arguments = append(info.Arguments, PromptArgument{Name: a.Name, Required: a.Required})
		}
		if usable {
			prompts = append(prompts, info)
		}
	}
	slices.SortFunc(prompts, func(a, b PromptInfo) int { return cmp.Compare(a.Name, b.Name) })
	return prompts[:min(len(prompts), maxPrompts)]
}

// Prompts are those that the server listed when it ran last, however long ago. Prompts leaves the server as
// it is.
func (s *Server) Prompts() []PromptInfo { return s.opts.Approvals.Prompts(s.spec) }

// A Prompt is the text that a server makes of one of its prompts, with attachments.
type Prompt struct {
	Text        string
	Attachments []tool.Attachment
}

// Errors of a prompt that the user can mend.
var (
	ErrNoPrompt        = errors.New("it has no such prompt")
	ErrPromptArguments = errors.New("the words do not fit")
)

// Prompt asks the server for a prompt, with the words that the user wrote behind its name. It starts the
// server if necessary.
func (s *Server) Prompt(ctx context.Context, name, line string) (Prompt, error) {
	if err := s.acquire(ctx); err != nil {
		return Prompt{}, err
	}
	defer s.release()
	c, listing, err := s.ready(ctx)
	if err != nil {
		return Prompt{}, err
	}
	at := slices.IndexFunc(listing.Prompts, func(p PromptInfo) bool { return p.Name == name })
	if at < 0 {
		return Prompt{}, fmt.Errorf("the MCP server %s: %w", words(s.spec.Name), ErrNoPrompt)
	}
	given, err := listing.Prompts[at].arguments(line)
	if err != nil {
		return Prompt{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.StartTimeout, errSilent)
	defer cancel()
	result, err := answered(ctx, c, func(ctx context.Context) (*sdk.GetPromptResult, error) {
		return c.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: given})
	})
	switch {
	case ctx.Err() != nil:
		return Prompt{}, context.Cause(ctx)
	case err != nil:
		return Prompt{}, fmt.Errorf("the MCP server %s: %s", words(s.spec.Name), clean(c.breakdown(err).Error()))
	}
	return promptOf(result)
}

// promptOf joins the messages of a prompt. If they are of both roles, each names its own.
func promptOf(r *sdk.GetPromptResult) (Prompt, error) {
	var c conversion
	both := slices.ContainsFunc(r.Messages, func(m *sdk.PromptMessage) bool { return m.Role != "user" })
	for i, m := range r.Messages {
		if i > 0 {
			c.line("\n")
		}
		if both {
			c.line("[" + words(string(m.Role)) + "]\n")
		}
		c.part(m.Content)
	}
	p := Prompt{Text: clean(c.text.String()), Attachments: c.files}
	switch {
	case len(p.Text) > maxPromptText:
		return Prompt{}, fmt.Errorf("the prompt has more than %d KiB", maxPromptText>>10)
	case p.Text == "":
		return Prompt{}, errors.New("the prompt is empty")
	}
	return p, nil
}

// answered waits for the answer of a server that may have stopped reading. At the end of ctx the answer is
// still owed.
func answered[R any](ctx context.Context, c *connection, ask func(context.Context) (R, error)) (R, error) {
	type answer struct {
		result R
		err    error
	}
	given := make(chan answer, 1)
	go func() {
		result, err := ask(ctx)
		given <- answer{result, err}
	}()
	select {
	case a := <-given:
		if ctx.Err() != nil {
			c.owes.Store(true)
		}
		return a.result, a.err
	case <-ctx.Done():
		c.owes.Store(true)
		var none R
		return none, context.Cause(ctx)
	}
}
