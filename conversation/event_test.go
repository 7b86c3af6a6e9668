package conversation_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

func TestRole(t *testing.T) {
	cases := []struct {
		body Body
		want Role
	}{
		{&ChatRequest{}, RoleUser}, {&TurnStart{}, RoleUser}, {&Workspace{}, RoleUser}, {&ForkOrigin{}, RoleUser},
		{&TurnDiscarded{}, RoleUser}, {&ConfigDelta{}, RoleUser}, {&Metadata{}, RoleUser}, {&Restored{}, RoleUser},
		{&ChatResponse{}, RoleAssistant}, {&ToolCallRequest{}, RoleAssistant}, {&ToolCallResponse{}, RoleTool},
		{&InquiryRequest{}, RoleJP}, {&InquiryResponse{By: ByUser}, RoleUser}, {&InquiryResponse{By: ByModel}, RoleAssistant},
		{&InquiryResponse{By: ByPolicy}, RoleJP}, {&InquiryResponse{By: ByConfig}, RoleJP},
		{&TurnStopped{By: ByUser}, RoleUser}, {&TurnStopped{By: ByLimit}, RoleJP},
		{&Prompt{}, RoleJP}, {&Note{}, RoleJP}, {&ToolStarted{}, RoleJP}, {&Resumed{}, RoleJP}, {&TurnInterrupted{}, RoleJP},
		{&WorkState{}, RoleJP}, {&TurnDone{}, RoleJP}, {&Unknown{}, RoleJP},
	}
	for _, c := range cases {
		e := Event{Body: c.body}
		require.Equal(t, c.want, e.Role(), "%#v", c.body)
	}
}

func TestText(t *testing.T) {
	with := map[Type]bool{
		TypePrompt: true, TypeNote: true, TypeChatRequest: true, TypeChatResponse: true, TypeToolCallRequest: true,
		TypeToolCallResponse: true, TypeInquiryRequest: true, TypeInquiryResponse: true, TypeConfigDelta: true, TypeResumed: true,
	}
	for _, kind := range allTypes {
		e := &Event{Body: bodyOf(t, kind)}
		require.Equal(t, kind, e.Type())
		e.SetText("words")
		text, has := e.Text()
		require.Equal(t, with[kind], has, kind)
		if has {
			require.Equal(t, "words", text)
		}
	}
}

func TestCloneIsApart(t *testing.T) {
	for _, kind := range allTypes {
		e := &Event{Body: bodyOf(t, kind)}
		c := e.Clone()
		require.Equal(t, e, c)
		require.NotSame(t, e, c)
		if reflect.TypeOf(e.Body).Elem().Size() > 0 {
			require.NotSame(t, e.Body, c.Body)
		}
		c.SetText("changed")
		text, _ := e.Text()
		require.Empty(t, text)
	}
}

func TestTypes(t *testing.T) {
	protocol, internal := 0, 0
	for _, kind := range allTypes {
		if kind.Protocol() {
			protocol++
			require.False(t, kind.Internal(), "the dialogue is shown: %s", kind)
		}
		if kind.Internal() {
			internal++
		}
	}
	require.Equal(t, 8, protocol)
	require.Equal(t, 9, internal)
	require.False(t, Type("hologram").Protocol())
}

func TestPayload(t *testing.T) {
	e := Event{Payloads: []Payload{{Name: "a"}, {Name: "b"}}}
	e.Payload("b").OID = "0b"
	require.Equal(t, "0b", e.Payloads[1].OID)
	require.Nil(t, e.Payload("c"))
}

func TestChoice(t *testing.T) {
	require.Equal(t, AnswerRun, (&InquiryResponse{Answer: []byte(`"run"`)}).Choice())
	for _, answer := range []string{``, `true`, `7`, `{`, `null`, `["run"]`} {
		require.Empty(t, (&InquiryResponse{Answer: []byte(answer)}).Choice(), answer)
	}
}
