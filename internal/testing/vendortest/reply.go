package vendortest

// A Reply is a model's answer to one request, independent of vendors. The zero value is an empty answer.
type Reply struct {
	Reasoning string // signed, or encrypted, if the API does that
	Text      string // streamed word by word
	Calls     []Call
	Data      string // a structured answer: the text of one, and the request must ask for it
	Finish    Finish // "": stop, or tool_calls if there are calls
	Usage     Usage
	Fail      *Failure // in the place of an answer
	Cut       *Cut     // the early end of the stream
	// Gate is received from before every piece of the text except the first. Optional.
	Gate <-chan struct{}
}

// A Call asks for a tool. Arguments are sent unchanged, valid or not.
type Call struct{ ID, Name, Arguments string }

// A Finish is why a model stops.
type Finish string

// The reasons besides the usual ones.
const (
	FinishLength   Finish = "length"
	FinishRefusal  Finish = "refusal"
	FinishFiltered Finish = "filtered"
)

// Usage counts tokens; Input has those of the cache in it.
type Usage struct {
	Input, Output, Cached int
	Cost                  string // in US dollars; only OpenRouter says it
}

// A Failure is a request that is refused.
type Failure struct {
	Kind    FailureKind
	Header  map[string]string // such as Retry-After
	Message string            // in the place of the vendor's usual words
}

// A FailureKind is a failure for which each vendor has its own words and status.
type FailureKind string

// The kinds of failure.
const (
	RateLimit  FailureKind = "rate limit"
	Overloaded FailureKind = "overloaded"
	Broken     FailureKind = "broken" // an error of the server
	BadKey     FailureKind = "bad key"
	NoMoney    FailureKind = "no money"
	NoModel    FailureKind = "no model"
	TooLong    FailureKind = "too long" // the request, for the model
	BadRequest FailureKind = "bad request"
)

// A Cut is the place and the kind of a stream's early end.
type Cut struct {
	After  int  // events that are sent before it
	Behind Mark // instead: behind the last event of this kind
	How    How
}

// A Mark is the part of the answer that an event of a stream belongs to.
type Mark string

// The marks.
const (
	MarkReasoning Mark = "reasoning"
	MarkText      Mark = "text"
	MarkCall      Mark = "call"
)

// A How is the way in which a stream ends.
type How int

// The ways. A silent server waits until the client has left, or for [Server.Close].
const (
	Disconnect How = iota // the connection breaks
	End                   // the stream ends as if it were whole
	Silent                // the stream stops, and the connection stays
	Fail                  // an event says that the server is overloaded
)

// event is one server-sent event: its name, or "", and its data.
type event struct {
	name    string
	data    string
	mark    Mark
	word    bool // it is a piece of the text
	comment bool // instead: a comment
	finish  bool // it says why the answer ends
}

// at is how many of the events are sent before the cut.
func (c *Cut) at(events []event) int {
	if c.Behind == "" {
		return min(c.After, len(events))
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].mark == c.Behind {
			return i + 1
		}
	}
	return 0
}
