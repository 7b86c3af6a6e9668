package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"jp/agent/models"
	"jp/agent/problem"
	"jp/compaction"
	"jp/conversation"
	"jp/instructions"
	"jp/internal/action"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/provider"
	"jp/provider/script"
	"jp/turnloop"
)

// addRecoveryHints adds to the error of a turn the commands that help.
func (e *turn) addRecoveryHints(ctx context.Context, f *problem.Error, err error) {
	id := e.target.id.Short()
	class := provider.Class("")
	var refused *provider.Error
	if errors.As(err, &refused) {
		class = refused.Class
	}
	name, _, _ := strings.Cut(e.model, "/")
	switch class {
	case provider.ClassContext:
		if !e.run.repo.Config.Compaction.Auto { // else it was done, or there is nothing to compact
			f.Hint(action.Compact(id), "makes room by a summary; "+action.Continue(id).String()+" goes on then")
		}
		sent := weigh(e.history.stream.Events())
		if _, window := e.run.context(); withFewerRules(f, e.history, sent, window) {
			f.Hint(action.ContinueModel(id), "ask a model that can read more")
			return
		}
		if sent.question > sent.all/2 { // it fails in a shorter conversation, too
			f.Hint(action.Discard(id), "take the question back, to ask a shorter one")
		} else {
			e.history.shorter(f, action.ContinueSession)
		}
		f.Hint(action.ContinueModel(id), "ask a model that can read more")
		return
	case provider.ClassAuth, provider.ClassQuota:
		if from := models.ProvidersOf(e.run.repo).KeySource(e.run.env, name); from != "" {
			f.Details = append(f.Details, "The key is "+from+".")
		} else {
			f.Details = append(f.Details, "No key was sent.")
			f.Hint(action.SetKeyName(models.ShownName(name)), "the variable that holds the key")
		}
	case provider.ClassModel:
		e.missingModel(ctx, f, name)
		return
	case provider.ClassAddress:
		f.Hint(action.SetBaseURL(models.ShownName(name)), "the address without the path that jp adds, which is shown above").
			Hint(action.Continue(id), "then ask again")
		return
	}
	if refused != nil && class != provider.ClassAuth && class != provider.ClassQuota && isPermanent(refused) {
		e.aroundRefusal(f, refused)
		return
	}
	var failed *turnloop.ProviderError
	if errors.As(err, &failed) && failed.Wait > 0 {
		f.Hint(action.Continue(id), "try again, after "+clock(e.run.env.Now(), failed.Wait)).
			Hint(action.ContinueLater(id), "wait for that in the background, and go on then").
			Hint(action.ContinueModel(id), "ask another model now")
		return
	}
	f.Hint(action.Continue(id), "try again").Hint(action.ContinueModel(id), "ask another model")
}

// A weight is how many bytes a conversation sends, and how many of them are the newest question and the
// instructions that its turn began with.
type weight struct{ all, question, rules int }

func weigh(events []*conversation.Event) (w weight) {
	for _, e := range events {
		text, _ := e.Text()
		size := len(text)
		for _, p := range e.Payloads {
			size += int(p.Bytes)
		}
		w.all += size
		switch b := e.Body.(type) {
		case *conversation.TurnStart:
			w.rules = 0
		case *conversation.ChatRequest:
			w.question = size
		case *conversation.Instructions:
			if b.For == nil {
				w.rules = size
			}
		}
	}
	return w
}

// instructionWords are more bytes than jp's own words around instructions have.
const instructionWords = 1500

// withFewerRules adds commands that ask the same with fewer instructions, if the instructions of the turn are
// the cause of the full context. A tenth of the context stays for the answer.
func withFewerRules(f *problem.Error, l *history, w weight, window int) bool {
	tokens := max(compaction.TextTokens(w.all), window+1) // the server counts more
	perByte := float64(tokens) / float64(max(w.all, 1))
	most := float64(window) * 0.9
	rest := float64(w.all-w.rules) * perByte
	if w.rules == 0 || window > 0 && rest > most || window == 0 && w.rules < w.all/2 {
		return false
	}
	id := l.target.id.Short()
	names := instructions.Follow(l.stream.Events()).Names()
	f.Details = append(f.Details, fmt.Sprintf("About %s of %s tokens are instructions (%s).", conversation.Tokens(int(float64(w.rules)*perByte)), conversation.Tokens(tokens), safetext.Show(strings.Join(names, ", "))))
	f.Hint(action.AgainUnruled(id), "take the question back, and ask it without instructions")
	if n := int((most-rest)/perByte) - instructionWords; n >= 1024 {
		f.Hint(action.AgainFewerRules(id, problem.Itoa(n/1024*1024)), "ask it with the beginning of the instructions")
	}
	return true
}

// isPermanent reports whether the same request will be refused for good.
func isPermanent(e *provider.Error) bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return e.Status >= 400 && e.Status < 500 || e.Class == provider.ClassInvalid
}

// The subjects of a refusal, in the server's words.
var (
	aboutTools  = lazy.Regexp(`(?i)\btools?\b|\bfunctions?\b`)
	aboutImages = lazy.Regexp(`(?i)\bimages?\b|\bimage_url\b|\bvision\b|\bmulti-?modal\b`)
)

// aroundRefusal adds the commands that send another request than the one that was
// refused for good: without the question, without the tools or the image that the
// server's words name, or to another model.
func (e *turn) aroundRefusal(f *problem.Error, refused *provider.Error) {
	id := e.target.id.Short()
	events := e.history.stream.Events()
	if errors.Is(refused, script.ErrUsedUp) && len(events) > 0 && events[len(events)-1].Turn > 1 { // else a new conversation ends as this one did
		f.Hint(action.AskNewModel(e.model), "a new conversation, which gets the first reply of the script")
	}
	f.Hint(action.Discard(id), "take the question back, to ask it in another way")
	if e.registry != nil && len(e.registry.Definitions()) > 0 && aboutTools().MatchString(refused.Message) {
		for _, def := range e.registry.Definitions() {
			if named(refused.Message, provider.WireName(def.Name)) {
				f.Hint(action.ContinueWithoutTool(id, def.Name), "go on without this tool")
			}
		}
		f.Hint(action.ContinueWithout(id), "go on without tools")
	}
	if start := turnOfNewestImage(e.history.stream.Events()); start >= 0 && aboutImages().MatchString(refused.Message) {
		if start == 0 {
			f.Hint(action.AskNew, "ask in a new conversation, without the image")
		} else {
			f.Hint(action.ForkAtAndUse(id, problem.Itoa(start-1)), "makes a fork that ends before the image, and goes on there")
		}
	}
	f.Hint(action.ContinueModel(id), "ask another model")
}

// named reports whether a text has a name as a whole word.
func named(text, name string) bool {
	isPart := func(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !isPart(r) }), name)
}

// turnOfNewestImage is the seq of the start of the turn with the newest image, or -1.
func turnOfNewestImage(events []*conversation.Event) int {
	start := -1
	for turn := range conversation.Turns(events) {
		for _, e := range turn.Events {
			var attached []conversation.Attachment
			switch b := e.Body.(type) {
			case *conversation.ChatRequest:
				attached = b.Attachments
			case *conversation.ToolCallResponse:
				attached = b.Attachments
			}
			if slices.ContainsFunc(attached, func(a conversation.Attachment) bool { return strings.HasPrefix(a.MediaType, "image/") }) {
				start = turn.Events[0].Seq
			}
		}
	}
	return start
}

// stoppedFor is the error of a turn whose model repeated a failing call of one tool.
func (t *target) stoppedFor(failing *turnloop.Failing) *problem.Error {
	f := problem.New(problem.ExitFailed, "interrupted", "jp stopped the turn: %s", problem.OneLine(failing.Error())).About(t.id)
	if failing.CutOff() {
		return f.Hint(action.AskLonger, "go on in a turn with longer answers")
	}
	return f.Hint(action.AskModel, "go on in a turn with another model")
}

// clock is the time at which a wait ends that begins now, with the day if that differs.
func clock(now time.Time, wait time.Duration) string {
	now = now.Local()
	then := now.Add(wait)
	if then.YearDay() == now.YearDay() && then.Year() == now.Year() {
		return then.Format("15:04")
	}
	return then.Format("2006-01-02 15:04")
}

// shorter adds commands that ask with a shorter history. again is the command that asks in a fork.
func (l *history) shorter(f *problem.Error, again action.Action) {
	if n := fewerTurns(l.stream.Events()); n > 0 {
		turns := "turn"
		if n > 1 {
			turns = fmt.Sprintf("%d turns", n)
		}
		f.Hint(action.ForkLast(l.target.id.Short(), problem.Itoa(n)), "makes a fork that has the last "+turns+" only; "+again.String()+" goes on with it")
	}
	f.Hint(action.AskNew, "ask in a new conversation")
}

// muchInput is how many tokens of input may be too many for a model that gives an empty answer: the windows
// of local servers are often this small.
const muchInput = 16_000

// emptyAnswer is the error of a turn whose model gave an empty answer.
func (e *turn) emptyAnswer() *problem.Error {
	id := e.target.id.Short()
	if e.outcome.Status == turnloop.Length {
		f := problem.New(problem.ExitFailed, "provider", "the answer is empty: the model reached the most tokens that one answer may have (parameters.max_tokens) before its first word.")
		return f.About(e.target.id).Hint(action.AgainLonger(id), "ask again with longer answers")
	}
	f := problem.New(problem.ExitFailed, "provider", "the model answered nothing, also when it was asked again.").About(e.target.id)
	if input := e.history.lastInput(); input >= muchInput {
		f.Message = fmt.Sprintf("the model answered nothing, also when it was asked again. It read %s tokens, which may be more than it can.", conversation.Tokens(input))
		e.history.shorter(f, action.AgainSession)
	}
	return f.Hint(action.Again(id), "ask again").Hint(action.AgainModel(id), "ask another model")
}

// lastInput is how many tokens the newest model call read.
func (l *history) lastInput() (tokens int) {
	for _, e := range l.stream.Tail().LastCall().Events {
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			if b.Usage != nil {
				tokens = b.Usage.Input
			}
		}
	}
	return tokens
}

// fewerTurns is how many turns a shorter fork has: at most three, and 0 if the fork could leave out none.
func fewerTurns(events []*conversation.Event) int {
	turns := 0
	for t := range conversation.Turns(events) {
		if ledger := t.Ledger(); !ledger.Discarded && !ledger.Empty() {
			turns++
		}
	}
	return max(0, min(3, turns-1))
}
