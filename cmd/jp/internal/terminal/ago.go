package terminal

import (
	"fmt"
	"time"
)

// Ago is a short form of the time since t: "now", "2 min", "2 h", "3 d", and from a week on the day,
// in the time zone of now: "21 Nov", with the year if it is another one.
func Ago(t, now time.Time) string {
	t = t.In(now.Location())
	switch past := now.Sub(t); {
	case past > -time.Minute && past < time.Minute:
		return "now"
	case past < 0 || past >= 7*24*time.Hour:
	case past < time.Hour:
		return fmt.Sprintf("%d min", past/time.Minute)
	case past < 24*time.Hour:
		return fmt.Sprintf("%d h", past/time.Hour)
	default:
		return fmt.Sprintf("%d d", past/(24*time.Hour))
	}
	if t.Year() != now.Year() {
		return t.Format("2 Jan 2006")
	}
	return t.Format("2 Jan")
}
