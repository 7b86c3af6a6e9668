package main

import (
	"math"
	"strconv"
	"strings"
	"time"

	"jp/conversation"
	"jp/internal/lazy"
)

var (
	commitPrefix = lazy.Regexp(`^[0-9a-f]{7,40}$`)
	relativeTime = lazy.Regexp(`^(\d+)(s|m|min|h|d|w)$`)
)

// selectEvent finds the event that E names: a number, a number from the end, the
// last of a turn, the beginning of a commit's id, or the last before a time.
func selectEvent(events []*conversation.Event, e string, id conversation.ID, now time.Time) (*conversation.Event, error) {
	e = strings.TrimPrefix(e, "@")
	if len(events) == 0 {
		return nil, noEvent(events, e, id)
	}
	if n, err := strconv.Atoi(e); err == nil {
		if n < 0 {
			n += events[len(events)-1].Seq + 1
		}
		if found := bySeq(events, n); found != nil {
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
	if before, ok := parseTime(e, now); ok {
		return lastBefore(events, before, e, id)
	}
	if relativeTime().MatchString(e) {
		return nil, usage("@%s is too long ago: jp counts back 292 years.", e)
	}
	return nil, noEvent(events, e, id)
}

func bySeq(events []*conversation.Event, seq int) *conversation.Event {
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
		return nil, usage("@%s: a turn is a number, as in @turn:2.", e)
	}
	var last *conversation.Event
	for _, ev := range events {
		if ev.Turn == n {
			last = ev
		}
	}
	if last == nil {
		return nil, fail(exitNotFound, "not_found", "%s has no turn %d; its last is %d.", id, n, events[len(events)-1].Turn).about(id).
			hint("jp log "+id.Short(), "its events")
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
		return nil, noEvent(events, e, id)
	}
	return last, nil
}

// parseTime reads a time: how long ago, a day, or RFC 3339. It takes none that
// time itself cannot hold or write: a duration that overflows would be another
// one.
func parseTime(s string, now time.Time) (time.Time, bool) {
	if relativeTime().MatchString(s) {
		passed, ok := ago(s)
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

// ago is a relative time as a duration.
func ago(s string) (time.Duration, bool) {
	m := relativeTime().FindStringSubmatch(s)
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

// noTime says of what a flag or an argument was given that it is not the time
// that it has to be.
func noTime(name, value, wanted string) *failure {
	if relativeTime().MatchString(value) {
		return usage("%s %q is too long: jp counts to 292 years.", name, value)
	}
	return usage("%s %q is not %s.", name, value, wanted)
}

func noEvent(events []*conversation.Event, e string, id conversation.ID) *failure {
	if blank(e) {
		e = strconv.Quote("@" + e)
	}
	f := fail(exitNotFound, "not_found", "%s has no event %s.", id, e).about(id)
	if len(events) > 0 {
		last := events[len(events)-1]
		f.message = strings.TrimSuffix(f.message, ".") + "; its last is " + strconv.Itoa(last.Seq) + " (turn " + strconv.Itoa(last.Turn) + ")."
	}
	return f.hint("jp log "+id.Short(), "its events")
}
