package provider

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

func TestProjectStates(t *testing.T) {
	const interrupted = "!" + conversation.InterruptedText
	tests := []struct{ name, history, want string }{
		{"a request", "T Q", "U[Q1.]"},
		{"a request, resumed", "T Q r", "U[Q1. r2.]"},
		{"an answer and the next turn", "T Q M. T Q", "U[Q1.] A[M2.] U[Q4.]"},
		{"a broken answer is not sent", "T Q M", "U[Q1.]"},
		{"a broken answer is quoted instead", "T Q M r", "U[Q1. r3.]"},
		{"reasoning alone is not sent", "T Q R", "U[Q1.]"},
		{"finished reasoning alone is not sent", "T Q R O- T Q", "U[Q1. Q5.]"},
		{"reasoning goes with its answer", "T Q R M. T Q", "U[Q1.] A[(R2.) M3.] U[Q5.]"},
		{"reasoning at the end is dropped", "T Q M R. T Q", "U[Q1.] A[M2.] U[Q5.]"},
		{"an empty answer says nothing", "T Q O. T Q", "U[Q1. Q4.]"},
		{"text that broke off", "T Q P", "U[Q1.]"},
		{"text that the user stopped at", "T Q P S T Q", "U[Q1.] A[P2.] U[Q5.]"},
		{"reasoning that the user stopped at", "T Q p S T Q", "U[Q1. Q5.]"},
		{"a stop before any text", "T Q S T Q", "U[Q1. Q4.]"},
		{"text that the user replied to", "T Q P Qi", "U[Q1.] A[P2.] U[Q3.]"},
		{"text that a resume quoted before the stop", "T Q P r S T Q", "U[Q1. r3. Q6.]"},
		{"text that was answered anew before the stop", "T Q P / M. S T Q", "U[Q1.] A[M3.] U[Q6.]"},
		{"one of two results", "T Q M C1 C2+ D1", "U[Q1.] A[M2. call(call_1) call(call_2)] R[call_1=D5. call_2=" + interrupted + "]"},
		{"both results and a resume", "T Q M C1 C2+ D1 r D2",
			"U[Q1.] A[M2. call(call_1) call(call_2)] R[call_1=D5. call_2=D7.] U[r6.]"},
		{"a result", "T Q C1+ D1", "U[Q1.] A[call(call_1)] R[call_1=D3.]"},
		{"a broken call with a tool ended there", "T Q C1 D1", "U[Q1.] A[call(call_1)] R[call_1=D3.]"},
		{"two calls are two messages", "T Q C1+ D1 M C2+ D2",
			"U[Q1.] A[call(call_1)] R[call_1=D3.] A[M4. call(call_2)] R[call_2=D6.]"},
		{"a broken call between", "T Q C1+ D1 M / C2+ D2",
			"U[Q1.] A[call(call_1)] R[call_1=D3.] A[call(call_2)] R[call_2=D6.]"},
		{"a broken call behind", "T Q C1+ D1 M", "U[Q1.] A[call(call_1)] R[call_1=D3.]"},
		{"questions never reach a model", "T Q C1+ I1 A1 D1", "U[Q1.] A[call(call_1)] R[call_1=D5.]"},
		{"held and delivered", "T Q C1+ H1 L1 l1", "U[Q1.] A[call(call_1)] R[call_1=H3.]"},
		{"held and withheld", "T Q C1+ H1 L1 w1", "U[Q1.] A[call(call_1)] R[call_1=!" + notReleased + " It is secret.]"},
		{"held and edited", "T Q C1+ H1 L1 e1", "U[Q1.] A[call(call_1)] R[call_1=edited]"},
		{"held and nobody has answered", "T Q C1+ H1 L1", "U[Q1.] A[call(call_1)] R[call_1=!" + notReleased + "]"},
		{"results in the order of the requests", "T Q C1 C2 C3+ D3 D1 D2",
			"U[Q1.] A[call(call_1) call(call_2) call(call_3)] R[call_1=D6. call_2=D7. call_3=D5.]"},
		{"edited arguments", "T Q C1+ B1 D1",
			"U[Q1.] A[call(call_1)] R[call_1=The user changed the arguments to {\"n\":9}.\nD4.]"},
		{"arguments edited in the answer", "T Q C1+ I1 a1 D1",
			"U[Q1.] A[call(call_1)] R[call_1=The user changed the arguments to {\"n\":8}.\nD5.]"},
		{"arguments that a hook changed", "T Q C1+ K1 k1 D1",
			"U[Q1.] A[call(call_1)] R[call_1=A hook of the user changed the arguments to {\"n\":7}.\nD5.]"},
		{"and with a yes behind it", "T Q C1+ K1 k1 I1 A1 D1",
			"U[Q1.] A[call(call_1)] R[call_1=A hook of the user changed the arguments to {\"n\":7}.\nD7.]"},
		{"and then the user", "T Q C1+ K1 k1 I1 a1 D1",
			"U[Q1.] A[call(call_1)] R[call_1=The user changed the arguments to {\"n\":8}.\nD7.]"},
		{"a call that a hook denied", "T Q C1+ K1 v1 D1", "U[Q1.] A[call(call_1)] R[call_1=D5.]"},
		{"a note of a hook behind one of two results", "T Q C1 C2+ D1 N D2",
			"U[Q1.] A[call(call_1) call(call_2)] R[call_1=D4. call_2=D6.] U[N5.]"},
		{"arguments of a call that was skipped", "T Q C1+ I1 s1 D1", "U[Q1.] A[call(call_1)] R[call_1=D5.]"},
		{"configuration says nothing", "T Q M. E T Q E", "U[Q1.] A[M2.] U[Q5.]"},
		{"a turn without a request", "T", ""},
		{"a note alone is no request", "T N", ""},
		{"a reply behind an answer", "T Q M. Qi", "U[Q1.] A[M2.] U[Q3.]"},
		{"a reply behind a tool that was not run", "T Q P C1 D1 Qi", "U[Q1.] A[P2. call(call_1)] R[call_1=D4.] U[Q5.]"},
		{"text that broke off behind a tool call", "T Q C1 P D1", "U[Q1.] A[call(call_1)] R[call_1=D4.]"},
		{"an older broken turn is repaired", "T Q C1+ T Q", "U[Q1.] A[call(call_1)] R[call_1=" + interrupted + "] U[Q4.]"},
		{"an orphan vanishes", "T Q D1 M. T Q", "U[Q1.] A[M3.] U[Q5.]"},
		{"an orphan in the last turn vanishes", "T Q D1", "U[Q1.]"},
		{"a second response vanishes", "T Q C1+ D1 D1", "U[Q1.] A[call(call_1)] R[call_1=D3.]"},
		{"no turn_start", "Q M. T Q", "U[Q0.] A[M1.] U[Q3.]"},
		{"an answer to nothing", "M. T Q", "U[Q2.]"},
		{"an id that comes again", "T Q C1+ D1 C1+ D1", "U[Q1.] A[call(call_1)] R[call_1=D3.] A[call(jp4)] R[jp4=D5.]"},
		{"an id that comes again in a later turn", "T Q C1+ D1 M. T Q C1+ D1",
			"U[Q1.] A[call(call_1)] R[call_1=D3.] A[M4.] U[Q6.] A[call(jp7)] R[jp7=D8.]"},
		{"two resumes in a row", "T Q r r", "U[Q1. r3.]"},
		{"resumes with a broken answer between", "T Q P r P r", "U[Q1. r5.]"},
		{"resumes with a sent answer between", "T Q r C1+ r D1", "U[Q1. r2.] A[call(call_1)] R[call_1=D5.] U[r4.]"},
		{"a discard and the next query", "T Q C1+ D1 X T N Q", "U[N6. Q7.]"},
		{"a discard takes reports with it", "T Q P r X T Q", "U[Q6.]"},
		{"a refusal", "T Q C1+ D1 M! T Q", "U[Q6.]"},
		{"a refusal after an older turn", "T Q M. T Q M! T Q", "U[Q1.] A[M2.] U[Q7.]"},
		{"an answer that was filtered", "T Q C1+ D1 M% T Q", "U[Q6.]"},
		{"a filtered answer after an older turn", "T Q M. T Q M% T Q", "U[Q1.] A[M2.] U[Q7.]"},
		{"a filtered answer with a call", "T Q M C1% D1 T Q", "U[Q6.]"},
		{"a reply behind a refusal", "T Q M! Qi", "U[Q3.]"},
		{"the length limit inside a tool call", "T Q M C1- D1", "U[Q1.] A[M2. call(call_1)] R[call_1=D4.]"},
		{"a paused answer is sent back", "T Q M~", "U[Q1.] A[M2.]"},
		{"a paused answer goes on", "T Q M~ M. T Q", "U[Q1.] A[M2.] A[M3.] U[Q5.]"},
		{"tool_calls without a call is asked again", "T Q M+", "U[Q1.]"},
		{"tool_calls without a call, then a note", "T Q M+ N", "U[Q1.] A[M2.] U[N3.]"},
		{"tool_calls without a call, then an answer", "T Q M+ M. T Q", "U[Q1.] A[M3.] U[Q5.]"},
		{"a replaced request", "T Q Qr", "U[Q2.]"},
		{"a replaced reply keeps what it replied to", "T Q P Qi Qr", "U[Q1.] A[P2.] U[Q4.]"},
		{"a blank request", "T Q0 M. T Q", "U[Q4.]"},
		{"a blank request with a note", "T N Q0 M. T Q", "U[N1.] A[M3.] U[Q5.]"},
		{"text while tools run stands behind their results", "T Q C1 C2+ D1 Qi D2",
			"U[Q1.] A[call(call_1) call(call_2)] R[call_1=D4. call_2=D6.] U[Q5.]"},
		{"the environment of a turn", "V Q M. T Q", "U[V0. Q1.] A[M2.] U[Q4.]"},
		{"another environment", "V N Q M. V J Q", "U[V0. N1. Q2.] A[M3.] U[V4. J5. Q6.]"},
		{"instructions of a turn", "T J Q M. T Q", "U[J1. Q2.] A[M3.] U[Q5.]"},
		{"instructions of a later turn", "T Q M. T J N Q", "U[Q1.] A[M2.] U[J4. N5. Q6.]"},
		{"instructions with a result", "T J Q C1+ D1 j1 M. T Q", "U[J1. Q2.] A[call(call_1)] R[call_1=D4.\n\nj5.] A[M6.] U[Q8.]"},
		{"instructions with one of two results", "T Q C1 C2+ D2 j2 D1", "U[Q1.] A[call(call_1) call(call_2)] R[call_1=D6. call_2=D4.\n\nj5.]"},
		{"instructions with a held result", "T Q C1+ H1 j1 L1 w1", "U[Q1.] A[call(call_1)] R[call_1=!" + notReleased + " It is secret.\n\nj4.]"},
		{"instructions of a discarded turn", "T J Q C1+ D1 j1 X T Q", "U[Q8.]"},
		{"instructions of a refused turn", "T J Q M! T Q", "U[Q5.]"},
		{"a new prompt ends the life of reasoning", "T G Q R M. T G Q", "U[Q2.] A[M4.] U[Q7.]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := events(test.history)
			require.Equal(t, test.want, show(Project(all, writer)))
			require.NoError(t, validate(all, Project(all, writer)))
		})
	}
}

func TestProjectDoesNotChangeTheEvents(t *testing.T) {
	all := events("T Q R C1+ D1 M. T N Q P C1 r")
	before, err := json.Marshal(all)
	require.NoError(t, err)
	Project(all, writer)
	after, err := json.Marshal(all)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

func TestEachBlockNamesItsEvent(t *testing.T) {
	for _, words := range []string{
		"T Q R M C1 C2+ D2 D1 r M. T Q", "T Q C1 C2+ D1 N Qi", "T V Q J M. T Q Qr C1+ D1", "T Q M. X T Q P S T Q",
	} {
		all := events(words)
		for _, m := range ProjectSourced(all, writer) {
			require.Len(t, m.From, len(m.Blocks), words)
			for i, b := range m.Blocks {
				e := all[m.From[i]]
				switch {
				case b.Kind == BlockToolCall:
					require.Equal(t, b.ID, e.Body.(*conversation.ToolCallRequest).ID, words)
				case b.Text == conversation.InterruptedText:
					require.Equal(t, conversation.TypeToolCallRequest, e.Type(), words)
				default:
					text, _ := e.Text()
					if start, ok := e.Body.(*conversation.TurnStart); ok {
						text = start.Environment
					}
					require.Equal(t, text, b.Text, words)
				}
			}
		}
	}
}
