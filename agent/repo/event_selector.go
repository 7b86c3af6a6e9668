package repo

import (
	"math"
	"strconv"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/lazy"
	"jp/internal/safetext"
)

var (
	commitPrefix = lazy.Regexp(`^[0-9a-f]{7,64}$`)
	RelativeTime = lazy.Regexp(`^(\d+)(s|m|min|h|d|w)$`)
)

// SelectEvent finds the event that E names: a number, a number from the end, the
// last of a turn, the beginning of a commit's id, or the last before a time. E may also be ID@E of this conversation.
func SelectEvent(events []*conversation.Event, e string, id conversation.ID, now time.Time) (*conversation.Event, error) {
	e = strings.TrimPrefix(e, "@")
	if target, event := SplitTarget(e); event != "" {
		if !strings.HasSuffix(string(id), target) {
			return nil, problem.Usage("%s is an event of another conversation. This one is %s.", safetext.Show(e), id)
		}
		e = event
	}
	if len(events) == 0 {
		return nil, NoEvent(events, e, id)
	}
	if n, err := strconv.Atoi(e); err == nil {
		if n < 0 {
			n += events[len(events)-1].Seq + 1
		}
		if found := BySeq(events, n); found != nil {
			return found, nil
		}
	}
	if turn, ok := strings.CutPrefix(e, "turn:"); ok {
		return lastOfTurn(events, turn, e, id)
	}
	if commitPrefix().MatchString(e) {
		for _, ev := range events {
			if strings.HasPrefix(ev.Commit, e) {
				return ev, nil
			}
		}
	}
	if before, ok := ParseTime(e, now); ok {
		return lastBefore(events, before, e, id)
	}
	if RelativeTime().MatchString(e) {
		return nil, problem.Usage("@%s is too long ago: jp counts back 292 years.", e)
	}
	return nil, NoEvent(events, e, id)
}

// reachOf is the reach that [SelectEvent] needs for the event that E names and the event before it. It is nil
// if all events must be read.
func reachOf(e string, now time.Time) Reach {
	e = strings.TrimPrefix(e, "@")
	if n, err := strconv.Atoi(e); err == nil && n < 0 {
		return func(back []*conversation.Event) bool { return len(back) > -n }
	} else if err == nil {
		return func(back []*conversation.Event) bool { // more than the newest: it may be the beginning of a commit
			return n <= back[0].Seq && back[len(back)-1].Seq < n
		}
	}
	if turn, ok := strings.CutPrefix(e, "turn:"); ok {
		n, err := strconv.Atoi(turn)
		if err != nil {
			return nil
		}
		return BeforeTurn(n)
	}
	if before, ok := ParseTime(e, now); ok && !commitPrefix().MatchString(e) {
		return func(back []*conversation.Event) bool {
			return len(back) > 1 && back[len(back)-2].Time.Before(before)
		}
	}
	return nil
}

// BeforeTurn reaches back to an event before a turn, so that the changes of the turn are known.
func BeforeTurn(n int) Reach {
	return func(back []*conversation.Event) bool { return back[len(back)-1].Turn < n }
}

// andBack reaches as far back as both do; nil is all.
func (r Reach) andBack(other Reach) Reach {
	if r == nil || other == nil {
		return nil
	}
	return func(back []*conversation.Event) bool { return r(back) && other(back) }
}

func BySeq(events []*conversation.Event, seq int) *conversation.Event {
	for _, e := range events {
		if e.Seq == seq {
			return e
		}
	}
	return nil
}

func lastOfTurn(events []*conversation.Event, turn, e string, id conversation.ID) (*conversation.Event, error) {
	n, err := strconv.Atoi(turn)
	if err != nil {
		return nil, problem.Usage("@%s: a turn is a number, as in @turn:2.", e)
	}
	var last *conversation.Event
	for _, ev := range events {
		if ev.Turn == n {
			last = ev
		}
	}
	if last == nil {
		return nil, problem.New(problem.ExitNotFound, "not_found", "%s has no turn %d; its last is %d.", id, n, events[len(events)-1].Turn).About(id).
			Hint(action.Log(id.Short()), "its events")
	}
	return last, nil
}

func lastBefore(events []*conversation.Event, before time.Time, e string, id conversation.ID) (*conversation.Event, error) {
	var last *conversation.Event
	for _, ev := range events {
		if ev.Time.Before(before) {
			last = ev
		}
	}
	if last == nil {
		return nil, NoEvent(events, e, id)
	}
	return last, nil
}

// ParseTime reads a time: how long ago, a day, or RFC 3339. It rejects times that [time.Time] cannot hold or
// write: a duration that overflows would become another one.
func ParseTime(s string, now time.Time) (time.Time, bool) {
	if RelativeTime().MatchString(s) {
		passed, ok := Ago(s)
		if !ok {
			return time.Time{}, false
		}
		return now.Add(-passed), true
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			year := t.UTC().Year()
			return t, year > 1 && year <= 9999
		}
	}
	return time.Time{}, false
}

// Ago is a relative time as a duration.
func Ago(s string) (time.Duration, bool) {
	m := RelativeTime().FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	unit := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}[m[2]]
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// NoTime is the error of a flag's or an argument's value that is another kind of time than the wanted one.
func NoTime(name, value, wanted string) *problem.Error {
	if RelativeTime().MatchString(value) {
		return problem.Usage("%s %q is too long: jp counts to 292 years.", name, value)
	}
	return problem.Usage("%s %q is not %s.", name, value, wanted)
}

func NoEvent(events []*conversation.Event, e string, id conversation.ID) *problem.Error {
	if problem.Blank(e) {
		e = strconv.Quote("@" + e)
	}
	f := problem.New(problem.ExitNotFound, "not_found", "%s has no event %s.", id, e).About(id)
	if len(events) > 0 {
		last := events[len(events)-1]
		f.Message = strings.TrimSuffix(f.Message, ".") + "; its last is " + strconv.Itoa(last.Seq) + " (turn " + strconv.Itoa(last.Turn) + ")."
	}
	if strings.ContainsAny(e, "./") {
		f.Hint(action.DiffPath(e), "what the tools changed in this file").Hint(action.RestorePath(e), "bring it back to an event")
	}
	return f.Hint(action.Log(id.Short()), "its events")
}
