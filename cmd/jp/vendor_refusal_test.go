package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
	"jp/internal/testing/vendortest"
)

func refusing(words string) vendortest.Reply {
	return vendortest.Reply{Fail: &vendortest.Failure{Kind: vendortest.BadRequest, Message: words}}
}

// TestHintsAfterARefusalSendAnotherRequest lets each vendor refuse a request for good,
// and runs each command that is named.
func TestHintsAfterARefusalSendAnotherRequest(t *testing.T) {
	t.Parallel()
	const shellName = `"name":"shell_run"`
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t)
			s.Loose()
			ask := func(words string, args ...string) string {
				s.Forget()
				s.Say(refusing(words))
				out := p.jp(append([]string{"query", "-m", v.Asked()}, args...)...)
				require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
				first, _, _ := strings.Cut(out.stderr[strings.Index(out.stderr, "\n\n")+2:], "\n")
				require.Regexp(t, "^    jp continue --discard ", first, "the command that always helps comes first")
				require.NotContains(t, out.stderr, "try again")
				return out.stderr
			}
			last := func() string {
				all := s.Requests()
				return string(all[len(all)-1].Body)
			}
			// Any words: the question is taken back, and another is asked.
			stderr := ask("Something is wrong with this.", "--new", "Question-First")
			require.NotContains(t, stderr, " -T ")
			require.NotContains(t, stderr, "jp fork")
			require.Zero(t, p.helps(stderr, "discard").exit)
			s.Say(vendortest.Reply{Text: greeting})
			require.Equal(t, greeting+"\n", p.jp("query", "Question-Second").stdout)
			require.False(t, strings.Contains(last(), "Question-First"), "Question-First")

			// One tool: the turn goes on without it, and so does the conversation.
			stderr = ask("Invalid schema for function 'shell_run': no.", "Question-Third")
			require.NotContains(t, stderr, "--no-tool git_log")
			s.Say(vendortest.Reply{Text: greeting})
			out := p.helps(stderr, "continue-without-tool")
			require.Equal(t, greeting+"\n", out.stdout, out.stderr)
			require.True(t, strings.Contains(last(), "Question-Third"), "Question-Third")
			require.False(t, strings.Contains(last(), shellName), shellName)
			require.True(t, strings.Contains(last(), "git_log"), "git_log")
			s.Say(vendortest.Reply{Text: greeting})
			require.Zero(t, p.jp("query", "Question-Fourth").exit)
			require.False(t, strings.Contains(last(), shellName), shellName)

			// All tools.
			stderr = ask("This model does not support tools.", "--new", "Question-Fifth")
			s.Say(vendortest.Reply{Text: greeting})
			require.Equal(t, greeting+"\n", p.helps(stderr, "continue-without").stdout)
			require.False(t, strings.Contains(last(), "git_log"), "git_log")
			require.True(t, strings.Contains(last(), "Question-Fifth"), "Question-Fifth")

			// A tool is switched on in the turn, too.
			ask("No.", "--new", "-T", "Question-Sixth")
			require.False(t, strings.Contains(last(), "git_log"), "git_log")
			s.Say(vendortest.Reply{Text: greeting})
			require.Equal(t, greeting+"\n", p.jp("continue", "-t", "git_log").stdout)
			require.True(t, strings.Contains(last(), "git_log"), "git_log")

			// A refused image is described instead. If that does not help, the fork is one that ends
			// before it.
			p.write("shot.png", "\x89PNG\r\n\x1a\n")
			s.Say(vendortest.Reply{Text: greeting})
			require.Zero(t, p.jp("query", "-m", v.Asked(), "--new", "Before").exit)
			s.Say(refusing("Could not process image"), vendortest.Reply{Text: greeting})
			out = p.jp("query", "-a", "shot.png", "Question-image")
			require.Equal(t, greeting+"\n", out.stdout, out.stderr)
			require.Contains(t, out.stderr, "asking again without shot.png")
			require.True(t, strings.Contains(last(), "is not shown: the server refused it"))
			s.Say(refusing("Could not process image"), refusing("Could not process image"))
			out = p.jp("query", "-a", "shot.png", "Question-again")
			require.Equal(t, problem.ExitProvider, out.exit, out.stderr)
			require.Zero(t, p.helps(out.stderr, "fork-at-and-use").exit)
			s.Say(vendortest.Reply{Text: greeting})
			require.Equal(t, greeting+"\n", p.jp("query", "Question-without").stdout)
			require.False(t, strings.Contains(last(), "Question-again"))
			require.True(t, strings.Contains(last(), "Question-image"))

			// Another model.
			stderr = ask("No.", "--new", "Question-Seventh")
			s.Say(vendortest.Reply{Text: greeting})
			require.Equal(t, greeting+"\n", p.helps(stderr, "continue-model", "PROVIDER/NAME="+v.Asked()).stdout)
			require.Zero(t, s.Left())
			require.Zero(t, p.jp("verify", "--all").exit)
		})
	}
}
