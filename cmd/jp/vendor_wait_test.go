package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

// TestALongWaitEndsTheQueryAtOnce lets each vendor ask for waits on both sides of the
// bound. Each command that is named helps.
func TestALongWaitEndsTheQueryAtOnce(t *testing.T) {
	t.Parallel()
	wait := func(kind vendortest.FailureKind, header ...string) vendortest.Reply {
		f := &vendortest.Failure{Kind: kind, Header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			f.Header[header[i]] = header[i+1]
		}
		return vendortest.Reply{Fail: f}
	}
	hour := wait(vendortest.RateLimit, "Retry-After", "3600")
	for name, tc := range map[string]struct {
		reply vendortest.Reply
		cfg   string
		says  string // "": it is waited for
	}{
		"an hour":          {reply: hour, says: "It asks to wait 60 min, longer than limits.retry_wait allows."},
		"a day and a bit":  {reply: wait(vendortest.Overloaded, "Retry-After", "90000"), says: "It asks to wait 25 h,"},
		"a date":           {reply: wait(vendortest.RateLimit, "Date", "Sat, 21 Nov 2026 12:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 12:05:00 GMT"), says: "It asks to wait 5 min,"},
		"just too long":    {reply: wait(vendortest.RateLimit, "Retry-After-Ms", "60001"), says: "It asks to wait 60 s,"},
		"just not":         {reply: wait(vendortest.RateLimit, "Retry-After", "60")},
		"a longer bound":   {reply: hour, cfg: "limits.retry_wait=2h"},
		"no bound":         {reply: hour, cfg: "limits.retry_wait=0s"},
		"a shorter bound":  {reply: wait(vendortest.RateLimit, "Retry-After", "7"), cfg: "limits.retry_wait=5s", says: "It asks to wait 7 s,"},
		"in words, a long": {reply: vendortest.Reply{Fail: &vendortest.Failure{Kind: vendortest.RateLimit, Message: "Rate limit reached. Please try again in 9m59s."}}, says: "It asks to wait 9 min,"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			s.Loose()
			for _, v := range vendortest.Vendors() {
				args := []string{"query", "--new", "-m", v.Asked(), "Hello"}
				if tc.cfg != "" {
					args = append(args, "--cfg", tc.cfg)
				}
				s.Say(tc.reply, vendortest.Reply{Text: greeting})
				out := p.jp(args...)
				if tc.says == "" {
					require.Equal(t, greeting+"\n", out.stdout, out.stderr)
					continue
				}
				require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
				require.Contains(t, out.stderr, tc.says)
				require.Regexp(t, `try again, after (\d{4}-\d\d-\d\d )?\d\d:\d\d`, out.stderr)
				require.Equal(t, 1, s.Left(), "it is not asked again")
				require.Equal(t, greeting+"\n", p.jp("continue").stdout)
			}
			require.Zero(t, s.Left())
		})
	}
	t.Run("in the background", func(t *testing.T) {
		t.Parallel()
		p, s := vendorPlace(t)
		v := vendortest.VendorNamed("openai")
		s.Say(hour)
		out := p.jp("query", "-m", v.Asked(), "Hello")
		s.Say(hour, vendortest.Reply{Text: greeting})
		require.Zero(t, p.helps(out.stderr, "continue-later").exit)
		require.Zero(t, p.jp("attach", "--wait").exit)
		require.Contains(t, p.jp("print", "--last", "1").stdout, greeting)
		require.Zero(t, s.Left())

		s.Say(hour, vendortest.Reply{Text: greeting})
		require.Zero(t, p.jp("query", "--detach", "--wait", "Once more").exit)
		require.Zero(t, p.jp("attach", "--wait").exit)
		s.Say(hour, vendortest.Reply{Text: greeting})
		require.Equal(t, greeting+"\n", p.jp("query", "--wait", "Here").stdout, "in the foreground, too")
		require.Zero(t, s.Left())
	})
}
